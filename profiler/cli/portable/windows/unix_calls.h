// SPDX-License-Identifier: Apache-2.0
// Part of the precompiled header for Windows: the calls of Unix that mingw-w64 lacks, as far as the
// analysis uses them.
#pragma once

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define O_CLOEXEC _O_NOINHERIT
#define O_NONBLOCK 0
#define O_NOCTTY 0
#define O_NOFOLLOW 0

// Moves the position, which no caller uses.
inline ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return _lseeki64(file, at, SEEK_SET) < 0 ? -1 : write(file, bytes, static_cast<unsigned>(size));
}

// Files have no owner in stat(), which reports 0.
inline short geteuid() { return 0; }
inline int fchmod(int, unsigned) { return 0; }
