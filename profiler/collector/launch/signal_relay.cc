// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/signal_relay.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <string>

namespace vramscope::collector {
namespace {

// Received but not relayed: SIGCHLD is ours, the other two follow from the command's use of the terminal.
constexpr std::array kTaken = {SIGCHLD, SIGTTIN, SIGTTOU};
// A closed stderr or a file size limit must cause a write error here, and must not end this process.
constexpr std::array kIgnored = {SIGPIPE, SIGXFSZ};
// Either these cannot be caught, or they report a fault in this very process.
constexpr std::array kLeft = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
// These occur without being sent: a window size change, urgent data. The command gets its own.
constexpr std::array kOwn = {SIGWINCH, SIGURG};

template <size_t N>
bool Contains(const std::array<int, N>& signals, int signal) {
  return std::find(signals.begin(), signals.end(), signal) != signals.end();
}

// True for signals whose effect the command decides: it may handle them, ignore them or die of them. These
// are all signals that are not listed above. Real-time signals are among them: batch systems use any of them
// as warnings.
bool IsForwarded(int signal) {
  const bool exists = signal < 32 || (signal >= SIGRTMIN && signal <= SIGRTMAX);
  return exists && !Contains(kTaken, signal) && !Contains(kIgnored, signal) && !Contains(kLeft, signal) &&
         !Contains(kOwn, signal);
}

sigset_t TakenSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (IsForwarded(signal) || Contains(kTaken, signal)) sigaddset(&set, signal);
  }
  return set;
}

constexpr std::array kTimers = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};

// A timer that ends this process would end the recording; see RestoreForExec.
std::array<itimerval, kTimers.size()> TakeTimers() {
  const itimerval none{};
  std::array<itimerval, kTimers.size()> found{};
  for (size_t i = 0; i < kTimers.size(); ++i) setitimer(kTimers[i], &none, &found[i]);
  return found;
}

// Raises the soft limit of CPU time to the hard limit, and returns the earlier limits: SIGXCPU at the soft
// limit is meant for the command. At the hard limit the kernel kills this process.
rlimit RaiseProcessorLimit() {
  rlimit found{};
  if (getrlimit(RLIMIT_CPU, &found) != 0) return {RLIM_INFINITY, RLIM_INFINITY};
  const rlimit raised{found.rlim_max, found.rlim_max};
  setrlimit(RLIMIT_CPU, &raised);
  return found;
}

// The signals pending for the process as a whole, as in /proc: bit signal - 1.
uint64_t PendingSignals(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("ShdPnd:")) return std::strtoull(line.c_str() + 7, nullptr, 16);
  }
  return 0;
}

bool StoppedByTerminal(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

constexpr uint64_t Bit(int signal) { return uint64_t{1} << (signal - 1); }

void KillAndReap(pid_t pid) {
  kill(pid, SIGKILL);
  while (waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void CloseAllDescriptors() {
  if (syscall(SYS_close_range, 0, ~0U, 0) == 0) return;
  for (int fd = 0; fd < 1024; ++fd) close(fd);  // Linux before 5.9
}

[[noreturn]] void SleepAsSentinel(pid_t collector) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "vramscope-wait");
  CloseAllDescriptors();  // a pipe's reader must see end-of-file when the collector closes it
  if (getppid() != collector) _exit(0);
  while (true) pause();
}

}  // namespace

SignalRelay::SignalRelay() {
  for (int signal = 1; signal < static_cast<int>(kSignalCount); ++signal) {
    sigaction(signal, nullptr, &found_actions_[static_cast<size_t>(signal)]);
  }
  const sigset_t taken = TakenSignals();
  sigprocmask(SIG_BLOCK, &taken, &found_mask_);
  signal_fd_ = signalfd(-1, &taken, SFD_CLOEXEC | SFD_NONBLOCK);
  for (const int signal : kIgnored) ::signal(signal, SIG_IGN);
  found_timers_ = TakeTimers();
  found_processor_limit_ = RaiseProcessorLimit();
  // An ignored signal (nohup) stays ignored, except SIGCHLD: children of a process that ignores it leave no
  // exit status.
  ::signal(SIGCHLD, SIG_DFL);
}

SignalRelay::~SignalRelay() {
  if (sentinel_ > 0) KillAndReap(sentinel_);
  ReadSignals();  // they were for the command, which has ended; unblocked, they would end us and hide its
                  // exit code
  close(signal_fd_);
  RestoreSignals();
}

void SignalRelay::RestoreForExec() const {
  for (size_t i = 0; i < kTimers.size(); ++i) setitimer(kTimers[i], &found_timers_[i], nullptr);
  setrlimit(RLIMIT_CPU, &found_processor_limit_);
  RestoreSignals();
}

void SignalRelay::RestoreSignals() const {
  for (const int signal : kIgnored) sigaction(signal, &found_actions_[static_cast<size_t>(signal)], nullptr);
  sigaction(SIGCHLD, &found_actions_[SIGCHLD], nullptr);
  sigprocmask(SIG_SETMASK, &found_mask_, nullptr);
}

pid_t SignalRelay::ForkSentinel() const {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t collector = getpid();
  const pid_t sentinel = fork();
  if (sentinel == 0) SleepAsSentinel(collector);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  return sentinel;
}

void SignalRelay::StartSentinel() { sentinel_ = ForkSentinel(); }

uint64_t SignalRelay::TakeGroupSignals() {
  if (sentinel_ <= 0 || PendingSignals(sentinel_) == 0) return 0;
  const pid_t old = sentinel_;
  sentinel_ = ForkSentinel();
  const uint64_t pending =
      PendingSignals(old);  // read after the new one exists, so that no signal falls between the two
  KillAndReap(old);
  return pending;
}

uint64_t SignalRelay::ReadSignals() {
  uint64_t arrived = 0;
  signalfd_siginfo info{};
  while (read(signal_fd_, &info, sizeof(info)) == static_cast<ssize_t>(sizeof(info))) {
    arrived |= Bit(static_cast<int>(info.ssi_signo));
  }
  return arrived;
}

SignalRelay::CommandState SignalRelay::Relay(pid_t command) {
  const uint64_t arrived = ReadSignals();
  if (arrived != 0) group_signals_ |= TakeGroupSignals();
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    if (IsForwarded(signal) && (arrived & Bit(signal)) != 0 && (group_signals_ & Bit(signal)) == 0)
      kill(command, signal);
  }
  group_signals_ &= ~arrived;
  int status = 0;
  while (waitpid(command, &status, WNOHANG | WUNTRACED) == command) {
    if (!WIFSTOPPED(status)) return {true, status};
    if (StoppedByTerminal(WSTOPSIG(status))) raise(SIGSTOP);
  }
  return {};
}

void DieBySignal(int signal) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prctl(PR_SET_DUMPABLE, 0);  // if cores are piped to a program, the limit does not apply
  ::signal(signal, SIG_DFL);
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, signal);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(signal);
  _exit(128 + signal);
}

}  // namespace vramscope::collector
