// SPDX-License-Identifier: Apache-2.0
// mmap() for Windows. It always maps the whole file for reading, whatever length and protection are given.
#pragma once

#include <io.h>
#include <windows.h>

#include <cerrno>

#define PROT_READ 1
#define MAP_PRIVATE 2
#define MAP_FAILED (reinterpret_cast<void*>(-1))

inline void* mmap(void*, size_t, int, int, int file, int) {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(file));
  const HANDLE mapping = CreateFileMappingW(handle, nullptr, PAGE_READONLY, 0, 0, nullptr);
  void* const address = mapping == nullptr ? nullptr : MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
  if (mapping != nullptr) CloseHandle(mapping);  // the view keeps the mapping
  if (address != nullptr) return address;
  errno = ENOMEM;
  return MAP_FAILED;
}

inline int munmap(void* address, size_t) { return UnmapViewOfFile(address) ? 0 : -1; }
