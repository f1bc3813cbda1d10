// SPDX-License-Identifier: Apache-2.0
// flock() for Windows. Locks one byte far beyond the end of the file, because Windows does not let other
// processes read a locked byte.
#pragma once

#include <io.h>
#include <windows.h>

#include <cerrno>

#define LOCK_EX 2

inline int flock(int file, int) {
  OVERLAPPED place{};
  place.OffsetHigh = 0x7fffffff;
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
  if (LockFileEx(handle, LOCKFILE_EXCLUSIVE_LOCK, 0, 1, 0, &place)) return 0;
  errno = EACCES;
  return -1;
}
