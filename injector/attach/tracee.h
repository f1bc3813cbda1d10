// SPDX-License-Identifier: Apache-2.0
// One thread of a process to which vramscope attaches, controlled with ptrace. The thread can be stopped, can
// get breakpoints, and is released so that the program notices nothing.
//
// The breakpoints are hardware breakpoints, because these belong to one thread. An int3 instruction in the
// code would also stop new threads that are not traced. It would kill the program (seen after 11 attaches).
//
// An interrupted thread may have a pending SIGTRAP from a breakpoint. After a plain PTRACE_DETACH, that
// SIGTRAP would kill the program (seen after 20 attaches).
//
//   Seize ──► running ── Stop ──► stopped ── Arm, Continue ──► running ── Poll ──► stopped (kBreakpoint)
//                                                                 │
//       Release: interrupt, remove the breakpoints, discard a  ◄──┘
//       pending SIGTRAP, detach and deliver another pending signal
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
  kInterrupted,  // Stop() interrupted the thread
  kGroup,        // a stop signal such as SIGSTOP stopped the process
  kSignal,       // a signal is about to be delivered to the thread: signal()
  kBreakpoint,
  kGone,  // the thread has ended or was released
};

class Tracee {
 public:
  explicit Tracee(pid_t thread) : thread_(thread) {}

  // Attaches to the thread without stopping it. False, with errno set, if the thread has ended or may not be
  // traced.
  bool Seize();
  // True if the running thread has stopped or ended. Does not wait.
  bool Poll();
  // Interrupts the thread and waits until it has stopped. False if the thread has ended or does not stop
  // within a second.
  bool Stop();
  // Waits at most `limit` for the next stop. True if the thread has stopped.
  bool WaitForStop(std::chrono::milliseconds limit);
  // Resumes a stopped thread and delivers its pending signal. In a group stop (SIGSTOP), the thread stays
  // stopped.
  void Continue();
  // For injected calls: like Continue, but the thread runs even in a group stop. Release() delivers the
  // pending signal.
  void ContinueForUs();

  // Sets breakpoints on at most kMostBreakpoints addresses. The thread must be stopped.
  bool Arm(std::span<const uint64_t> addresses);
  void Disarm();
  // Detaches from the thread and restores its state from before Seize(). A running thread is stopped first. A
  // thread that does not stop stays traced.
  void Release();

  [[nodiscard]] pid_t thread() const { return thread_; }
  [[nodiscard]] StopReason reason() const { return reason_; }
  [[nodiscard]] bool gone() const { return reason_ == StopReason::kGone; }
  [[nodiscard]] bool stopped() const { return reason_ != StopReason::kRunning && !gone(); }
  [[nodiscard]] bool armed() const { return armed_; }
  [[nodiscard]] int signal() const { return signal_; }
  // Wait status of a thread that has ended; nullopt if another process received the status.
  [[nodiscard]] std::optional<int> ending() const { return ending_; }
  // Drops the pending signal, so that the program never gets it. For signals that an injected call caused.
  void DropSignal() { signal_ = 0; }

 private:
  bool SetDebugRegister(size_t number, uint64_t value) const;
  [[nodiscard]] bool HasPendingTrap() const;
  void Resume(int request, int signal);

  pid_t thread_;
  StopReason reason_ = StopReason::kRunning;
  int signal_ = 0;     // delivered by the next Continue()
  int held_back_ = 0;  // delivered by Release()
  bool armed_ = false;
  bool was_armed_ = false;  // a SIGTRAP of a breakpoint may still be pending
  std::optional<int> ending_;
};

}  // namespace vramscope::attach
