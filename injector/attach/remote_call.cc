// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/remote_call.h"

#include <elf.h>
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <chrono>
#include <cstring>

#include "injector/attach/process_view.h"

namespace vramscope::attach {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kLoaderPatience = std::chrono::seconds(5);
constexpr size_t kMostExtendedBytes = 64 << 10;
constexpr uint64_t kRedZone = 128;
constexpr uint64_t kDirectionFlag = 0x400;
constexpr uint64_t kFaults = uint64_t{1} << (SIGSEGV - 1) | uint64_t{1} << (SIGBUS - 1) |
                             uint64_t{1} << (SIGILL - 1) | uint64_t{1} << (SIGFPE - 1) |
                             uint64_t{1} << (SIGTRAP - 1);
// Around the thread pointer: the C library's thread-local variables before it, its struct pthread after it.
constexpr uint64_t kWordsBefore = 256;
constexpr uint64_t kWordsBehind = 256;

bool WriteMemory(pid_t pid, uint64_t address, const void* from, size_t bytes) {
  const iovec local = {const_cast<void*>(from), bytes};
  const iovec remote = {reinterpret_cast<void*>(address), bytes};
  return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool WriteRegisters(pid_t thread, const user_regs_struct& registers) {
  iovec area = {const_cast<user_regs_struct*>(&registers), sizeof registers};
  return ptrace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &area) == 0;
}

bool SetSignalMask(pid_t thread, uint64_t mask) {
  return ptrace(PTRACE_SETSIGMASK, thread, sizeof mask, &mask) == 0;
}

void Nap() {
  constexpr timespec kNap = {0, 20'000};
  nanosleep(&kNap, nullptr);
}

}  // namespace

std::optional<user_regs_struct> ReadRegisters(pid_t thread) {
  user_regs_struct registers = {};
  iovec area = {&registers, sizeof registers};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &area) != 0) return std::nullopt;
  return registers;
}

bool RemoteCall::Prepare() {
  const auto registers = ReadRegisters(tracee_.thread());
  if (!registers) return false;
  registers_ = *registers;
  extended_.resize(kMostExtendedBytes);
  iovec area = {extended_.data(), extended_.size()};
  if (ptrace(PTRACE_GETREGSET, tracee_.thread(), NT_X86_XSTATE, &area) != 0) return false;
  extended_.resize(area.iov_len);
  if (ptrace(PTRACE_GETSIGMASK, tracee_.thread(), sizeof signals_, &signals_) != 0) return false;
  thread_words_.resize(kWordsBefore + kWordsBehind);
  if (!ReadMemory(pid_, registers_.fs_base - kWordsBefore * 8, thread_words_.data(),
                  thread_words_.size() * 8))
    thread_words_.clear();
  stack_ = registers_.rsp - kRedZone;
  prepared_ = SetSignalMask(tracee_.thread(), signals_ | ~kFaults);
  return prepared_;
}

uint64_t RemoteCall::PushText(const std::string& text) {
  stack_ = (stack_ - text.size() - 1) & ~uint64_t{15};
  WriteMemory(pid_, stack_, text.c_str(), text.size() + 1);
  return stack_;
}

bool RemoteCall::Begin(uint64_t function, std::initializer_list<uint64_t> arguments) {
  user_regs_struct registers = registers_;
  const uint64_t zero = 0;
  registers.rsp = (stack_ & ~uint64_t{15}) - 8;  // as after a call instruction
  registers.rip = function;
  registers.rax = 0;
  registers.orig_rax = ~0ULL;  // no system call is to be restarted
  registers.eflags &= ~kDirectionFlag;
  unsigned long long* const places[] = {&registers.rdi, &registers.rsi, &registers.rdx};
  size_t count = 0;
  for (const uint64_t argument : arguments) *places[count++] = argument;
  return WriteMemory(pid_, registers.rsp, &zero, sizeof zero) && WriteRegisters(tracee_.thread(), registers);
}

Result<uint64_t> RemoteCall::Do(uint64_t function, std::initializer_list<uint64_t> arguments) {
  if (!Begin(function, arguments)) return Died();
  tracee_.ContinueForUs();
  return WaitForReturn();
}

Error RemoteCall::Died() const {
  return Error{"Process " + std::to_string(pid_) + " ended while vramscope was entering it."};
}

Result<uint64_t> RemoteCall::WaitForReturn() {
  auto next_check = Clock::now() + kLoaderPatience;
  for (;;) {
    others_may_run_();
    if (!tracee_.Poll()) {
      if (Clock::now() > next_check) {
        if (BreakOff())
          return Error{"Process " + std::to_string(pid_) +
                       " is busy loading a library. Nothing was changed; try again when it is done."};
        next_check = Clock::now() + kLoaderPatience;
      }
      Nap();
      continue;
    }
    if (tracee_.gone()) return Died();
    const auto registers = ReadRegisters(tracee_.thread());
    if (!registers) return Died();
    const bool fault = tracee_.reason() == StopReason::kSignal &&
                       (kFaults >> (tracee_.signal() - 1) & 1) != 0 && tracee_.signal() <= 32;
    if (!fault) {
      tracee_.ContinueForUs();
      continue;
    }
    const int signal = tracee_.signal();
    tracee_.DropSignal();
    if (signal == SIGSEGV && registers->rip == 0) return registers->rax;
    return Error{"The recorder crashed while it was loaded into process " + std::to_string(pid_) +
                 " (signal " + std::to_string(signal) + "). The process was put back to what it did before."};
  }
}

// Another thread took the loader's lock between our check and the call, and does not release it. While our
// thread waits for its first lock, nothing has been done, and the call can be abandoned.
bool RemoteCall::BreakOff() {
  if (!tracee_.Stop()) return false;
  const auto registers = ReadRegisters(tracee_.thread());
  const bool waits = registers && tracee_.reason() == StopReason::kInterrupted &&
                     registers->orig_rax == SYS_futex && locks_.Contains(registers->rdi) &&
                     !locks_.HeldBy(tracee_.thread());
  if (!waits) {
    tracee_.ContinueForUs();
    return false;
  }
  ForgetCatchPoints();
  return true;
}

// dlopen stores, in the thread's own memory, where to continue after an error. That place is on the stack of
// the abandoned call: such pointers get their old values back.
void RemoteCall::ForgetCatchPoints() {
  if (thread_words_.empty()) return;
  const uint64_t begin = registers_.fs_base - kWordsBefore * 8;
  std::vector<uint64_t> now(thread_words_.size());
  if (!ReadMemory(pid_, begin, now.data(), now.size() * 8)) return;
  constexpr uint64_t kDepth = 64 << 10;
  for (size_t i = 0; i < now.size(); ++i) {
    const bool on_our_stack = now[i] < registers_.rsp && now[i] > stack_ - kDepth;
    if (now[i] != thread_words_[i] && on_our_stack)
      WriteMemory(pid_, begin + i * 8, &thread_words_[i], sizeof(uint64_t));
  }
}

void RemoteCall::Restore() {
  if (registers_.rip == 0 || tracee_.gone()) return;
  WriteRegisters(tracee_.thread(), registers_);
  iovec area = {extended_.data(), extended_.size()};
  if (!extended_.empty()) ptrace(PTRACE_SETREGSET, tracee_.thread(), NT_X86_XSTATE, &area);
  if (prepared_) SetSignalMask(tracee_.thread(), signals_);
}

}  // namespace vramscope::attach
