// SPDX-License-Identifier: Apache-2.0
// Makes the collector invisible to signals: the command gets each signal as often as without a collector.
//
// Signals from the terminal (Ctrl-C, Ctrl-Z, hangup) go to the process group and reach the command anyway. A
// signal sent only to the collector's pid must be passed on. To distinguish these two cases, a sentinel
// process in the group has all signals blocked. A signal that is pending in the sentinel too went to the
// group.
//
//   group:  shell job ─┬─ collector ── signal read here: pending in the sentinel? ─┬─ yes: drop it, the
//                      │                         ▲                                 │  command has it
//                      ├─ sentinel ──────────────┘                                 └─ no: kill(command,
//                      └─ command ...                                                 signal)
//
// When a terminal signal stops the command, the collector stops itself too.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace vramscope::collector {

// Saves the signal dispositions and the mask of this process. Only one object may exist. Create it in a
// single-threaded program, before the fork.
class SignalRelay {
 public:
  // From here on, a signal meant for the command neither kills nor stops the collector.
  SignalRelay();
  // Restores the saved dispositions and mask.
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // In the forked child before exec: restores the caller's signal state, timers (alarm) and processor time
  // limit. Async-signal-safe.
  void RestoreForExec() const;
  // Call in the parent after the fork.
  void StartSentinel();

  // Readable when Relay has something to do.
  [[nodiscard]] int descriptor() const { return signal_fd_; }

  struct CommandState {
    bool exited = false;
    int wait_status = 0;  // as waitpid reports it
  };
  // Passes on pending signals that are meant for the command, and returns the command's state. May stop this
  // process until it is continued.
  CommandState Relay(pid_t command);

 private:
  static constexpr size_t kSignalCount = 65;

  void RestoreSignals() const;
  // Signals that came to this process since the last call, signal N as bit N - 1.
  uint64_t ReadSignals();
  [[nodiscard]] pid_t ForkSentinel() const;
  // Like ReadSignals, for signals that went to the group. Starts a new sentinel.
  uint64_t TakeGroupSignals();

  std::array<struct sigaction, kSignalCount> found_actions_{};
  sigset_t found_mask_{};
  std::array<itimerval, 3> found_timers_{};  // real, virtual, prof
  rlimit found_processor_limit_{};
  int signal_fd_ = -1;
  pid_t sentinel_ = 0;
  uint64_t group_signals_ = 0;  // seen by a sentinel, not yet read here
};

// Ends this process by the command's signal, without a core file.
[[noreturn]] void DieBySignal(int signal);

}  // namespace vramscope::collector
