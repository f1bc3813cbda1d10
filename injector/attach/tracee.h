// SPDX-License-Identifier: Apache-2.0
// One thread of the target under ptrace, and how to release it so that the program notices nothing.
//
// We use hardware breakpoints, which belong to one thread. An int3 in the code would also hit new threads
// that are not traced, and kill the program (seen after 11 attaches).
//
// An interrupted thread may have a pending SIGTRAP from a breakpoint. After a plain PTRACE_DETACH, the
// SIGTRAP would kill the program (seen after 20 attaches).
//
//   Seize ──► running ── Stop ──► stopped ── Arm, Continue ──► running ── Poll ──► stopped (kBreakpoint)
//                                                                 │
//       Release: interrupt, disarm, swallow a pending SIGTRAP, ◄──┘
//       detach with any signal that is due
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>

namespace vramscope::attach {

inline constexpr size_t kMostBreakpoints = 4;  // debug registers of x86

enum class StopReason : uint8_t {
  kRunning,
  kInterrupted,  // by us
  kGroup,        // SIGSTOP and the like stopped the process
  kSignal,       // a signal is about to be delivered: signal()
  kBreakpoint,
  kGone,
};

class Tracee {
 public:
  explicit Tracee(pid_t thread) : thread_(thread) {}

  // False, with errno set, if the thread is gone or may not be traced.
  bool Seize();
  // True if the running thread has stopped or ended. Does not wait.
  bool Poll();
  // Interrupts the thread and waits until it has stopped. False if it is gone or takes more than a second.
  bool Stop();
  // Waits for the next stop.
  bool WaitForStop(std::chrono::milliseconds limit);
  // Resumes a stopped thread and delivers a due signal. In a group stop (SIGSTOP), the thread stays stopped.
  void Continue();
  // Like Continue, but resumes the thread even in a group stop, and holds a due signal back until Release().
  // For injected calls.
  void ContinueForUs();

  // Sets breakpoints on up to four addresses. Stopped threads only.
  bool Arm(std::span<const uint64_t> addresses);
  void Disarm();
  // Releases the thread as it was before Seize(); stops it first if needed. A thread that does not stop stays
  // traced.
  void Release();

  [[nodiscard]] pid_t thread() const { return thread_; }
  [[nodiscard]] StopReason reason() const { return reason_; }
  [[nodiscard]] bool gone() const { return reason_ == StopReason::kGone; }
  [[nodiscard]] bool stopped() const { return reason_ != StopReason::kRunning && !gone(); }
  [[nodiscard]] bool armed() const { return armed_; }
  [[nodiscard]] int signal() const { return signal_; }
  // Wait status of a thread that is gone; nothing if another process received it.
  [[nodiscard]] std::optional<int> ending() const { return ending_; }
  // The signal was ours: do not deliver.
  void DropSignal() { signal_ = 0; }

 private:
  bool SetDebugRegister(size_t number, uint64_t value) const;
  [[nodiscard]] bool HasPendingTrap() const;
  void Resume(int request, int signal);

  pid_t thread_;
  StopReason reason_ = StopReason::kRunning;
  int signal_ = 0;     // due at the next Continue()
  int held_back_ = 0;  // due at Release()
  bool armed_ = false;
  bool was_armed_ = false;  // a trap may still be on its way
  std::optional<int> ending_;
};

}  // namespace vramscope::attach
