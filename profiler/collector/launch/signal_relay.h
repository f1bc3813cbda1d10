// SPDX-License-Identifier: Apache-2.0
// Passes signals from the collector to the command, so that the command gets each signal as often as without
// a collector.
//
// Signals from the terminal (Ctrl-C, Ctrl-Z, hangup) go to the whole process group, which contains the
// command. A signal that was sent only to the collector's pid must be passed on. To distinguish these two
// cases, the group has a third process, the sentinel, which blocks all signals. If a signal is also pending
// in the sentinel, the signal was sent to the group.
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
  // Blocks the signals that the relay passes on. They no longer kill or stop the collector.
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

  // A file descriptor that is readable when Relay() should be called.
  [[nodiscard]] int descriptor() const { return signal_fd_; }

  struct CommandState {
    bool exited = false;
    int wait_status = 0;  // as waitpid reports it
  };
  // Sends the command the signals that only the collector got, and returns the command's state. If a terminal
  // signal stopped the command, this process stops itself until SIGCONT.
  CommandState Relay(pid_t command);

 private:
  static constexpr size_t kSignalCount = 65;

  void RestoreSignals() const;
  // Returns the signals that this process got since the last call, as a bit set: signal N is bit N - 1.
  uint64_t ReadSignals();
  [[nodiscard]] pid_t ForkSentinel() const;
  // Returns the signals that the process group got, as ReadSignals does. Replaces the sentinel if there are
  // any.
  uint64_t TakeGroupSignals();

  std::array<struct sigaction, kSignalCount> found_actions_{};
  sigset_t found_mask_{};
  std::array<itimerval, 3> found_timers_{};  // real, virtual, prof
  rlimit found_processor_limit_{};
  int signal_fd_ = -1;
  pid_t sentinel_ = 0;
  uint64_t group_signals_ = 0;  // signals that the sentinel got and that ReadSignals has not returned yet
};

// Ends this process by `signal`, without a core file. The collector thus ends as the command ended.
[[noreturn]] void DieBySignal(int signal);

}  // namespace vramscope::collector
