// SPDX-License-Identifier: Apache-2.0
// ioctl(TIOCGWINSZ) for Windows: the width of the console.
#pragma once

#include <io.h>
#include <windows.h>

#define TIOCGWINSZ 0

struct winsize {
  unsigned short ws_row, ws_col;
};

inline int ioctl(int file, int, winsize* size) {
  CONSOLE_SCREEN_BUFFER_INFO info;
  if (!GetConsoleScreenBufferInfo(reinterpret_cast<HANDLE>(_get_osfhandle(file)), &info)) return -1;
  size->ws_col = static_cast<unsigned short>(info.srWindow.Right - info.srWindow.Left + 1);
  return 0;
}
