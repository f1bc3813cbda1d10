// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/refusal.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {
namespace {

constexpr int kCapSysPtrace = 19;
constexpr int kStrictSeccomp = 1;

using Check = Status (*)(pid_t pid, const std::string& process);

Error Refused(const std::string& process, const std::string& why) { return Error{process + " " + why}; }

std::string NameOfUser(uid_t user) {
  passwd entry = {};
  passwd* found = nullptr;
  char buffer[4096];
  getpwuid_r(user, &entry, buffer, sizeof buffer, &found);
  return found != nullptr ? found->pw_name : "number " + std::to_string(user);
}

bool MayTraceAnything() { return (NumberIn(StatusOf(getpid(), "CapEff"), 16) >> kCapSysPtrace & 1) != 0; }

Status CheckItIsAProcess(pid_t pid, const std::string& process) {
  if (pid <= 0) return Error{"A process id is a number from 2 on."};
  if (pid == getpid()) return Refused(process, "is vramscope itself. Name the process of the training.");
  if (pid == 1)
    return Refused(
        process,
        "is the first process of this system or container, and an accident in it would end everything "
        "there. Start the training under vramscope record.");
  const auto group = StatusOf(pid, "Tgid");
  if (!group) return Error{"There is no process " + std::to_string(pid) + "."};
  if (NumberIn(group) != static_cast<uint64_t>(pid))
    return Error{std::to_string(pid) + " is a thread of process " + *group + ". Attach to " + *group + "."};
  return {};
}

Status CheckItRuns(pid_t pid, const std::string& process) {
  const std::string state = StatusOf(pid, "State").value_or("?");
  if (state[0] == 'Z' || state[0] == 'X')
    return Refused(process, "has ended, its parent has only not asked for its exit code yet.");
  if (state[0] == 'T')
    return Refused(process, "is stopped by a signal. Let it go on (kill -CONT " + std::to_string(pid) +
                                ") and attach then.");
  const uint64_t tracer = NumberIn(StatusOf(pid, "TracerPid"));
  if (tracer != 0)
    return Refused(process, "is being traced by " + Describe(static_cast<pid_t>(tracer)) +
                                ", and only one can do that. End that first.");
  return {};
}

Status CheckUser(pid_t pid, const std::string& process) {
  uid_t real = 0, effective = 0, saved = 0;
  std::sscanf(StatusOf(pid, "Uid").value_or("").c_str(), "%u %u %u", &real, &effective, &saved);
  if (real != effective || real != saved)
    return Refused(process,
                   "runs with raised privileges (setuid), and nothing may be loaded into such a program.");
  if (real != geteuid() && !MayTraceAnything())
    return Refused(process,
                   "belongs to user " + NameOfUser(real) + ". Run vramscope as that user, or with sudo.");
  return {};
}

// AT_SECURE: setuid, setgid or file capabilities at its start, even if the ids are equal again now.
Status CheckPrivileges(pid_t pid, const std::string& process) {
  const std::string raw = ReadProcFile("/proc/" + std::to_string(pid) + "/auxv");
  for (size_t at = 0; at + sizeof(Elf64_auxv_t) <= raw.size(); at += sizeof(Elf64_auxv_t)) {
    Elf64_auxv_t entry;
    std::memcpy(&entry, raw.data() + at, sizeof entry);
    if (entry.a_type == AT_SECURE && entry.a_un.a_val != 0)
      return Refused(
          process,
          "was started with raised privileges (setuid, setgid or file capabilities), and nothing may be "
          "loaded into such a program.");
  }
  return {};
}

Status CheckPtraceScope(pid_t, const std::string& process) {
  const std::string why =
      ForbiddenByPtraceScope(ReadProcFile("/proc/sys/kernel/yama/ptrace_scope"), MayTraceAnything());
  if (!why.empty()) return Refused(process, "cannot be attached to: " + why);
  return {};
}

// The filters from the container or service: those of its outermost process. Further filters are the
// program's own. They do not expect us, and may answer a system call of ours by killing the program.
uint64_t FiltersOfSurroundings(pid_t pid) {
  const auto space = [](pid_t of) {
    struct stat info = {};
    return stat(("/proc/" + std::to_string(of) + "/ns/pid").c_str(), &info) == 0 ? info.st_ino : 0;
  };
  uint64_t filters = NumberIn(StatusOf(pid, "Seccomp_filters"));
  const auto own = space(pid);
  for (pid_t parent = pid; parent > 1 && space(parent) == own;) {
    filters = NumberIn(StatusOf(parent, "Seccomp_filters"), 10, filters);
    parent = static_cast<pid_t>(NumberIn(StatusOf(parent, "PPid")));
    if (parent == 1 && space(1) == own) filters = NumberIn(StatusOf(1, "Seccomp_filters"), 10, filters);
  }
  return filters;
}

Status CheckSeccomp(pid_t pid, const std::string& process) {
  const uint64_t mode = NumberIn(StatusOf(pid, "Seccomp"));
  const uint64_t filters = NumberIn(StatusOf(pid, "Seccomp_filters"));
  if (mode == kStrictSeccomp || (mode != 0 && filters > FiltersOfSurroundings(pid)))
    return Refused(
        process,
        "has put itself under a seccomp filter, which might kill it for a system call of the recorder. "
        "Start it under vramscope record.");
  return {};
}

Status CheckMappings(pid_t pid, const std::string& process) {
  const std::vector<Mapping> mappings = MappingsOf(pid);
  if (mappings.empty()) {
    if (StatusOf(pid, "VmSize"))
      return Refused(process, "may not be looked into: " + std::string(std::strerror(EACCES)) +
                                  ". Run vramscope with sudo, in a container with --cap-add SYS_PTRACE.");
    return Refused(process, "is a part of the kernel or has ended.");
  }
  bool loader = false, c_library = false;
  for (const Mapping& mapping : mappings) {
    const std::string_view name = FileNameOf(mapping);
    if (name.starts_with("ld-musl") || name.starts_with("libc.musl"))
      return Refused(process, "uses the musl C library; PyTorch and vramscope use glibc.");
    // The file of a finished recording is deleted; the process unmaps it as soon as it can.
    if (mapping.path.ends_with(".ring") && mapping.path.find("/vramscope-") != std::string::npos)
      return Refused(process, "is being recorded by vramscope already.");
    loader = loader || name.starts_with("ld-");
    c_library = c_library || name.starts_with("libc.so") || name.starts_with("libc-2");
  }
  if (!loader || !c_library)
    return Refused(process, "is statically linked: nothing can be loaded into it. Link it dynamically.");
  return {};
}

Status CheckBits(pid_t pid, const std::string& process) {
  Elf64_Ehdr header = {};
  const int fd = open(("/proc/" + std::to_string(pid) + "/exe").c_str(), O_RDONLY | O_CLOEXEC);
  const ssize_t got = fd < 0 ? 0 : pread(fd, &header, sizeof header, 0);
  if (fd >= 0) close(fd);
  if (got < static_cast<ssize_t>(EI_NIDENT)) return {};  // CheckMappings reports the reason
  if (header.e_ident[EI_CLASS] != ELFCLASS64)
    return Refused(process, "is a 32-bit program; PyTorch and vramscope are 64-bit.");
#if defined(__x86_64__)
  if (header.e_machine != EM_X86_64)
    return Refused(process, "is built for another processor than vramscope.");
#endif
  return {};
}

Status CheckSignals(pid_t pid, const std::string& process) {
  const uint64_t ignored = NumberIn(StatusOf(pid, "SigIgn"), 16);
  if ((ignored >> (SIGTRAP - 1) & 1) != 0 || (ignored >> (SIGSEGV - 1) & 1) != 0)
    return Refused(
        process, "ignores SIGTRAP or SIGSEGV, which attaching would undo. Start it under vramscope record.");
  if (StatusOf(pid, "x86_Thread_features").value_or("").find("shstk") != std::string::npos)
    return Refused(
        process,
        "runs with a shadow stack, on which vramscope cannot make a call. Start it under vramscope record.");
  return {};
}

// The check of the bits comes first among those that read the process: the others assume the 64-bit layout.
constexpr Check kChecks[] = {CheckItIsAProcess, CheckItRuns,  CheckUser,     CheckBits,   CheckPrivileges,
                             CheckPtraceScope,  CheckSeccomp, CheckMappings, CheckSignals};

}  // namespace

std::string ForbiddenByPtraceScope(const std::string& scope, bool may_trace_anything) {
  const char level = scope.empty() ? '0' : scope[0];
  if (level == '0' || (may_trace_anything && level != '3')) return {};
  if (level == '3')
    return "this system forbids it until it is started again (kernel.yama.ptrace_scope is 3). Start the "
           "program under vramscope record.";
  return std::string("this system lets only ") + (level == '1' ? "parents" : "administrators") +
         " do that (kernel.yama.ptrace_scope is " + level +
         "). Use sudo, or set it to 0: sudo sysctl kernel.yama.ptrace_scope=0";
}

Status CheckTarget(pid_t pid) {
  std::string process = Describe(pid);
  process[0] = process == "process " + std::to_string(pid) ? 'P' : process[0];
  for (const Check check : kChecks) {
    VRAMSCOPE_TRY(check(pid, process));
  }
  return {};
}

bool HasPyTorch(pid_t pid) {
  for (const Mapping& mapping : MappingsOf(pid)) {
    const std::string_view name = FileNameOf(mapping);
    if (name.starts_with("libc10") || name.starts_with("libtorch")) return true;
  }
  return false;
}

}  // namespace vramscope::attach
