// SPDX-License-Identifier: Apache-2.0
// Where and when a thread of the target can call dlopen.
//
// At the entry of malloc, a thread holds no lock of the C library's allocator. While any thread holds a lock
// of the dynamic loader, dlopen is not safe. The call would wait, or find half changed lists.
#pragma once

#include <cstdint>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {

// The entries of all functions named `malloc` (the C library's, jemalloc's, ...), at most four.
std::vector<uint64_t> MallocEntries(pid_t pid, const std::vector<Mapping>& mappings);

class LoaderLocks {
 public:
  LoaderLocks(pid_t pid, const std::vector<Mapping>& mappings);
  // True if any thread of the process holds a lock of the loader. Takes microseconds. The process may run.
  [[nodiscard]] bool Held() const;
  // True if `thread` holds such a lock.
  [[nodiscard]] bool HeldBy(pid_t thread) const;
  // True if `address` lies in the loader's _rtld_global.
  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }

 private:
  template <typename IsOwner>
  bool AnyHeld(IsOwner is_owner) const;

  pid_t pid_;
  uint64_t begin_ = 0;  // of _rtld_global, which contains the loader's locks
  uint64_t bytes_ = 0;
};

// Threads that may get breakpoints now, running ones first. Not threads that block SIGTRAP or SIGSEGV. Not
// threads in a system call that an interruption ends (epoll_wait).
std::vector<pid_t> ThreadsToWatch(pid_t pid);

// Bytes from `address`, in a thread's stack, to the end of that stack.
uint64_t StackBelow(uint64_t address, const std::vector<Mapping>& mappings);

}  // namespace vramscope::attach
