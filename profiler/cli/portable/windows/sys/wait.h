// SPDX-License-Identifier: Apache-2.0
// The macros of sys/wait.h for Windows. A trace stores the wait status of a recorded process in Linux's
// format.
#pragma once

#include <string>

#define WEXITSTATUS(status) (((status) >> 8) & 0xff)
#define WTERMSIG(status) ((status)&0x7f)
#define WIFEXITED(status) (WTERMSIG(status) == 0)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)

// Returns the name that glibc gives the signal.
inline std::string strsignal(int number) {
  static constexpr const char* kNames[] = {"Hangup",
                                           "Interrupt",
                                           "Quit",
                                           "Illegal instruction",
                                           "Trace/breakpoint trap",
                                           "Aborted",
                                           "Bus error",
                                           "Floating point exception",
                                           "Killed",
                                           "User defined signal 1",
                                           "Segmentation fault",
                                           "User defined signal 2",
                                           "Broken pipe",
                                           "Alarm clock",
                                           "Terminated"};
  const bool known = number >= 1 && number <= static_cast<int>(sizeof kNames / sizeof kNames[0]);
  return known ? kNames[number - 1] : "Unknown signal " + std::to_string(number);
}
