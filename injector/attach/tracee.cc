// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/tracee.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cstddef>

namespace vramscope::attach {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kStopLimit = std::chrono::seconds(1);
constexpr int kMostPending = 64;

void Nap() {
  constexpr timespec kNap = {0, 20'000};
  nanosleep(&kNap, nullptr);
}

// True for a debug exception. Not only TRAP_HWBKPT: in some virtual machines the kernel reports a single step
// instead. A program's own int3 has another code (SI_KERNEL).
bool IsDebugTrap(const siginfo_t& info) {
  return info.si_signo == SIGTRAP && info.si_code >= TRAP_BRKPT && info.si_code <= TRAP_HWBKPT;
}

}  // namespace

bool Tracee::Seize() { return ptrace(PTRACE_SEIZE, thread_, nullptr, nullptr) == 0; }

bool Tracee::Poll() {
  if (reason_ != StopReason::kRunning) return false;
  int status = 0;
  const pid_t found = waitpid(thread_, &status, WNOHANG | __WALL);
  if (found == 0 || (found < 0 && errno == EINTR)) return false;
  if (found < 0 || !WIFSTOPPED(status)) {
    reason_ = StopReason::kGone;
    if (found == thread_) ending_ = status;
    return true;
  }
  const int stop_signal = WSTOPSIG(status);
  if (status >> 16 == PTRACE_EVENT_STOP) {
    reason_ = stop_signal == SIGTRAP ? StopReason::kInterrupted : StopReason::kGroup;
    return true;
  }
  siginfo_t info = {};
  ptrace(PTRACE_GETSIGINFO, thread_, nullptr, &info);
  const bool breakpoint = was_armed_ && IsDebugTrap(info);
  reason_ = breakpoint ? StopReason::kBreakpoint : StopReason::kSignal;
  signal_ = breakpoint ? 0 : stop_signal;
  return true;
}

bool Tracee::WaitForStop(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  while (!Poll() && reason_ == StopReason::kRunning) {
    if (Clock::now() > deadline) return false;
    Nap();
  }
  return stopped();
}

bool Tracee::Stop() {
  if (stopped()) return true;
  if (gone() || ptrace(PTRACE_INTERRUPT, thread_, nullptr, nullptr) != 0) return false;
  return WaitForStop(kStopLimit);
}

void Tracee::Resume(int request, int signal) {
  // This fails for a thread that was killed while stopped. Poll() then gets its wait status. Until the tracer
  // has waited, the parent is not notified, and the process remains a zombie.
  reason_ = StopReason::kRunning;
  ptrace(static_cast<__ptrace_request>(request), thread_, nullptr, signal);
}

void Tracee::Continue() {
  if (!stopped()) return;
  const bool group = reason_ == StopReason::kGroup;
  const int signal = signal_;
  signal_ = 0;
  Resume(group ? PTRACE_LISTEN : PTRACE_CONT, group ? 0 : signal);
}

void Tracee::ContinueForUs() {
  if (!stopped()) return;
  if (signal_ != 0) held_back_ = signal_;
  signal_ = 0;
  Resume(PTRACE_CONT, 0);
}

#if defined(__x86_64__)
bool Tracee::SetDebugRegister(size_t number, uint64_t value) const {
  const size_t offset = offsetof(struct user, u_debugreg) + number * sizeof(user::u_debugreg[0]);
  return ptrace(PTRACE_POKEUSER, thread_, offset, value) == 0;
}
#else
// Attaching is refused before this is needed (inject.cc).
bool Tracee::SetDebugRegister(size_t, uint64_t) const { return false; }
#endif

bool Tracee::Arm(std::span<const uint64_t> addresses) {
  uint64_t control = 0;
  for (size_t i = 0; i < std::min(addresses.size(), kMostBreakpoints); ++i) {
    if (!SetDebugRegister(i, addresses[i])) return false;
    control |= uint64_t{1} << 2 * i;  // on for this thread; kind and length 0: execution
  }
  armed_ = control != 0 && SetDebugRegister(7, control);
  was_armed_ = was_armed_ || armed_;
  return armed_;
}

void Tracee::Disarm() {
  if (!armed_) return;
  armed_ = false;
  SetDebugRegister(7, 0);
  for (size_t i = 0; i < kMostBreakpoints; ++i) SetDebugRegister(i, 0);
}

bool Tracee::HasPendingTrap() const {
  if (!was_armed_) return false;
  siginfo_t pending[kMostPending] = {};
  __ptrace_peeksiginfo_args wanted = {.off = 0, .flags = 0, .nr = kMostPending};  // of this thread alone
  const long count = ptrace(PTRACE_PEEKSIGINFO, thread_, &wanted, pending);
  return std::any_of(pending, pending + std::max(count, 0L), IsDebugTrap);
}

void Tracee::Release() {
  if (!Stop()) {
    Poll();  // it may have ended (only this wait notifies its parent), or has stopped just now
    if (!stopped()) return;
  }
  Disarm();
  while (HasPendingTrap()) {
    Resume(PTRACE_CONT, signal_);
    signal_ = 0;
    if (!WaitForStop(kStopLimit)) return;
  }
  if (held_back_ != 0 && signal_ == 0) signal_ = held_back_;
  const bool let_go = ptrace(PTRACE_DETACH, thread_, nullptr, signal_) == 0;
  reason_ = let_go ? StopReason::kGone : StopReason::kRunning;
  Poll();
}

}  // namespace vramscope::attach
