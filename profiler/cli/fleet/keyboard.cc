// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/keyboard.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

namespace vramscope::cli {
namespace {

termios on_exit_mode;  // for the signal handler

// A signal handler: makes the terminal echo again before Ctrl-C ends the program. Async-signal-safe.
void RestoreAndDie(int signal) {
  tcsetattr(STDIN_FILENO, TCSANOW, &on_exit_mode);
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);
}

}  // namespace

Keyboard::Keyboard() {
  if (isatty(STDIN_FILENO) != 1 || tcgetattr(STDIN_FILENO, &before_) != 0) return;
  // In the background of a shell, changing the terminal's mode would stop this process.
  if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return;
  on_exit_mode = before_;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action = {};
    action.sa_handler = RestoreAndDie;
    sigaction(signal, &action, nullptr);
  }
  termios keys = before_;
  keys.c_lflag &= static_cast<tcflag_t>(~(ICANON | ECHO));
  there_ = tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0;
}

Keyboard::~Keyboard() {
  if (there_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
}

std::optional<char> Keyboard::Wait(std::chrono::milliseconds patience) const {
  pollfd ready{there_ ? STDIN_FILENO : -1, POLLIN, 0};
  if (poll(&ready, 1, static_cast<int>(patience.count())) != 1) return std::nullopt;
  char key = 0;
  return read(STDIN_FILENO, &key, 1) == 1 ? std::optional(key) : std::nullopt;
}

}  // namespace vramscope::cli
