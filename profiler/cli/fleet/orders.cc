// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/orders.h"

#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <system_error>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/black_box/job_orders.h"
#include "profiler/collector/target/dormant_recorder.h"
#include "profiler/collector/target/launch_facts.h"
#include "trace_format/process_identity.h"
#include "trace_format/ring.h"

extern char** environ;

namespace vramscope::cli {
namespace {

// The processes of this user and pid namespace that wait for `vramscope start`. Each has a socket, its door,
// and the kernel lists the names of all sockets.
std::set<pid_t> DormantProcesses() {
  std::set<pid_t> found;
  const std::string name = fmt::format("@{}{}-", trace::kDoorName, trace::PidNamespaceOf("self"));
  std::ifstream sockets("/proc/net/unix");
  for (std::string line; std::getline(sockets, line);) {
    const size_t at = line.find(name);
    if (at == std::string::npos) continue;
    pid_t pid = 0;
    const char* const end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data() + at + name.size(), end, pid);
    struct stat owner {};
    if (parsed.ec == std::errc() && stat(fmt::format("/proc/{}", pid).c_str(), &owner) == 0 &&
        owner.st_uid == geteuid())
      found.insert(pid);
  }
  return found;
}

std::string NameFor(const std::string& folder, pid_t pid) {
  const auto facts = collector::LaunchFactsOf(static_cast<uint32_t>(pid));
  const auto rank = facts.find("rank");
  return (std::filesystem::path(folder) /
          (rank == facts.end() ? fmt::format("process{}.vms", pid) : fmt::format("rank{}.vms", rank->second)))
      .string();
}

// Runs these words as a vramscope process that continues after this program has ended.
Status Spawn(std::vector<std::string> words) {
  std::array<char, 4096> self{};
  const ssize_t length = readlink("/proc/self/exe", self.data(), self.size() - 1);
  if (length <= 0) return Error{"this program cannot be found in /proc/self/exe."};
  words.insert(words.begin(), self.data());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t usual;  // top ignores SIGCHLD, and the child must not inherit that
  sigemptyset(&usual);
  sigaddset(&usual, SIGCHLD);
  posix_spawnattr_setsigdefault(&attributes, &usual);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF);  // Ctrl-C here does not end it
  pid_t child = 0;
  const int failed = posix_spawn(&child, self.data(), nullptr, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (failed != 0) return Error{fmt::format("vramscope start cannot be started: {}.", strerror(failed))};
  return {};
}

Status CheckFolder(const std::string& folder) {
  std::error_code failed;
  if (std::filesystem::is_directory(folder, failed)) return {};
  return Error{fmt::format("{}: is not a folder. Name the folder of the job's traces.", folder)};
}

}  // namespace

bool IsOrder(const std::vector<std::string>& words) {
  std::error_code failed;
  return !words.empty() && (words[0] == "dump" || words[0] == "start" || words[0] == "stop") &&
         !std::filesystem::exists(words[0], failed);
}

Result<std::string> DumpAll(const std::string& folder, uint64_t step) {
  VRAMSCOPE_TRY(CheckFolder(folder));
  collector::JobOrders orders(folder + "/x");
  VRAMSCOPE_TRY(orders.Send(step, "order to the job"));
  return fmt::format("Asked all black boxes that record into {} to write their last steps{}.", folder,
                     step == 0 ? "" : fmt::format(" when step {} has finished", step));
}

Result<std::string> StartAll(const std::string& folder, const std::vector<std::string>& more) {
  VRAMSCOPE_TRY(CheckFolder(folder));
  size_t started = 0;
  for (const pid_t pid : DormantProcesses()) {
    const Result<int> who = collector::AskDormantRecorder(pid, "who");
    if (!who.ok() || *who > 0) continue;  // gone, or recorded already
    std::vector<std::string> words = {"start", "--quiet", std::to_string(pid), "-o", NameFor(folder, pid)};
    words.insert(words.end(), more.begin(), more.end());
    VRAMSCOPE_TRY(Spawn(std::move(words)));
    ++started;
  }
  if (started == 0)
    return Error{
        "no process of this machine waits to be recorded. Start the job with: vramscope record --dormant"};
  return fmt::format("Started {} on this machine; the traces go to {}.", FormatCount(started, "recording"),
                     folder);
}

Result<std::string> StopAll() {
  size_t stopped = 0;
  for (const pid_t pid : DormantProcesses()) {
    const Result<int> who = collector::AskDormantRecorder(pid, "who");
    if (who.ok() && *who > 0 && kill(*who, SIGINT) == 0) ++stopped;
  }
  if (stopped == 0) return Error{"no process of this machine is recorded by vramscope start."};
  return fmt::format("Stopped {} on this machine.", FormatCount(stopped, "recording"));
}

Result<int> RunOrder(const Arguments& arguments) {
  const std::vector<std::string>& words = arguments.positionals();
  const std::string& order = words[0];
  if (words.size() != 2 && !(order == "stop" && words.size() == 1))
    return UsageError(fmt::format("fleet {0} needs the folder of the job: vramscope fleet {0} job", order));
  uint64_t step = 0;
  if (arguments.Has("step")) step = VRAMSCOPE_TRY(NumberOf(arguments, "step"));
  if (order != "dump" && arguments.Has("step"))
    return UsageError("--step works only with fleet dump: dormant processes do not count steps.");
  Result<std::string> done = order == "dump"    ? DumpAll(words[1], step)
                             : order == "start" ? StartAll(words[1], {})
                                                : StopAll();
  if (!done.ok()) return done.error();
  Print(Printable(*done) + "\n");
  return kDone;
}

}  // namespace vramscope::cli
