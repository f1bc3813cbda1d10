// SPDX-License-Identifier: Apache-2.0
// Unix calls that the analysis uses and mingw-w64 lacks. Part of the precompiled header for Windows.
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

// Unlike pwrite() on Unix, this function moves the file position. No caller depends on the file position.
inline ssize_t pwrite(int file, const void* bytes, size_t size, off_t at) {
  return _lseeki64(file, at, SEEK_SET) < 0 ? -1 : write(file, bytes, static_cast<unsigned>(size));
}

// stat() on Windows reports owner 0 for every file.
inline short geteuid() { return 0; }
inline int fchmod(int, unsigned) { return 0; }
