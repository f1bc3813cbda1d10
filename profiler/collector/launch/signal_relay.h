// SPDX-License-Identifier: Apache-2.0
// Makes the collector invisible to signals: the command gets each signal as often as it would without a
// collector above it.
//
// The command stays in the collector's process group. So signals from the terminal (Ctrl-C, Ctrl-Z, hangup)
// and signals sent to the group reach it anyway. A signal sent only to the collector's pid must be passed on.
// The kernel does not report which of the two it was, so a sentinel finds out: a sleeping process in the same
// group with all signals blocked. A signal that is pending there too went to the group. (The kernel walks a
// group from its newest process, so the sentinel has the signal before the collector.)
//
//   group:  shell job ─┬─ collector ── signal read here: pending in the sentinel? ─┬─ yes: drop it, the
//                      │                         ▲                                 │  command has it
//                      ├─ sentinel ──────────────┘                                 └─ no: kill(command,
//                      └─ command ...                                                 signal)
//
// Job control: when a terminal signal stops the command, the collector stops itself, because the shell waits
// for that.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace vramscope::collector {

// Saves the signal dispositions and the mask of this process. Only one may exist. Create it in a
// single-threaded program, before the command is forked.
class SignalRelay {
 public:
  // From here on, a signal meant for the command neither kills nor stops the collector.
  SignalRelay();
  // Restores the saved dispositions and mask.
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // In the forked child before exec: restores everything as the collector's caller had it. That includes the
  // timers (alarm) and the processor time limit, which are removed from the collector itself.
  // Async-signal-safe.
  void RestoreForExec() const;
  // Starts the sentinel. Call it in the parent once the command is forked.
  void StartSentinel();

  // Readable when Relay has something to do.
  [[nodiscard]] int descriptor() const { return signal_fd_; }

  struct CommandState {
    bool exited = false;
    int wait_status = 0;  // as waitpid reports it
  };
  // Reads the pending signals, passes on those meant for the command, and checks the command's state. May
  // stop this process until it is continued.
  CommandState Relay(pid_t command);

 private:
  static constexpr size_t kSignalCount = 65;

  void RestoreSignals() const;
  // Signals that came to this process since the last call, as bit signal - 1.
  uint64_t ReadSignals();
  [[nodiscard]] pid_t ForkSentinel() const;
  // Like ReadSignals, for signals that went to the group; a fresh sentinel sees the following ones.
  uint64_t TakeGroupSignals();

  std::array<struct sigaction, kSignalCount> found_actions_{};
  sigset_t found_mask_{};
  std::array<itimerval, 3> found_timers_{};  // real, virtual, prof
  rlimit found_processor_limit_{};
  int signal_fd_ = -1;
  pid_t sentinel_ = 0;
  uint64_t group_signals_ = 0;  // seen by a sentinel, not yet read here
};

// Ends this process by the signal that ended the command, without writing its own core file.
[[noreturn]] void DieBySignal(int signal);

}  // namespace vramscope::collector
