// SPDX-License-Identifier: Apache-2.0
// Makes the collector invisible to signals: the command gets each signal as often as it would without a
// collector above it.
//
// The command stays in the collector's process group, so what the terminal sends (Ctrl-C, Ctrl-Z, hangup) and
// what is sent to the group reaches it anyway. A signal sent to the collector's pid alone must be passed on.
// Which of the two it was the kernel does not tell, so a sentinel tells: a sleeping process in the same group
// with all signals blocked. What is pending there too went to the group. (The kernel walks a group from its
// newest process, so the sentinel has it before the collector.)
//
//   group:  shell job ─┬─ collector ── signal read here: pending in the sentinel? ─┬─ yes: drop it, the
//                      │                         ▲                                 │  command has it
//                      ├─ sentinel ──────────────┘                                 └─ no: kill(command,
//                      └─ command ...                                                 signal)
//
// Job control: when a terminal signal stops the command, the collector stops itself, which is what the shell
// waits for.
#pragma once

#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>

#include <array>
#include <cstdint>

namespace vramscope::collector {

// Dispositions and mask of the process that it was made in; one at a time, made before the command is forked,
// by a program of one thread.
class SignalRelay {
 public:
  // From here on the collector neither dies nor stops by a signal that the command should decide about.
  SignalRelay();
  // Gives back the dispositions and the mask that were found.
  ~SignalRelay();
  SignalRelay(const SignalRelay&) = delete;
  SignalRelay& operator=(const SignalRelay&) = delete;

  // In the forked child before exec: everything as the collector's caller had it, also the timers (alarm) and
  // the limit of processor time, which are taken from the collector itself. Async-signal-safe.
  void RestoreForExec() const;
  // Starts the sentinel; in the parent once the command is forked.
  void StartSentinel();

  // Readable when Relay has something to do.
  [[nodiscard]] int descriptor() const { return signal_fd_; }

  struct CommandState {
    bool exited = false;
    int wait_status = 0;  // as waitpid gives it
  };
  // Reads the pending signals, passes on what is the command's, and looks at the command. May stop this
  // process until it is continued.
  CommandState Relay(pid_t command);

 private:
  static constexpr size_t kSignalCount = 65;

  void RestoreSignals() const;
  // Those that have come to this process since the last call, bit signal - 1.
  uint64_t ReadSignals();
  [[nodiscard]] pid_t ForkSentinel() const;
  // The same for those that went to the group; a fresh sentinel sees those from
  // here on.
  uint64_t TakeGroupSignals();

  std::array<struct sigaction, kSignalCount> found_actions_{};
  sigset_t found_mask_{};
  std::array<itimerval, 3> found_timers_{};  // real, virtual, prof
  rlimit found_processor_limit_{};
  int signal_fd_ = -1;
  pid_t sentinel_ = 0;
  uint64_t group_signals_ = 0;  // seen by a sentinel, not yet read here
};

// Ends this process by the signal that ended the command, without a core file of its own.
[[noreturn]] void DieBySignal(int signal);

}  // namespace vramscope::collector
