// SPDX-License-Identifier: Apache-2.0
// Finds the place and the time at which a thread of the target can safely call dlopen. The target is the
// running process that the recorder is loaded into.
//
// The place is the entry of malloc, because a thread there holds no lock of the C library's allocator. The
// time is when no thread holds a lock of the dynamic loader. Otherwise, dlopen could wait forever, or read
// half-changed lists.
#pragma once

#include <cstdint>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {

// Returns the addresses of the functions named `malloc` (of the C library, jemalloc, ...), at most four.
std::vector<uint64_t> MallocEntries(pid_t pid, const std::vector<Mapping>& mappings);

// Reads the locks of the dynamic loader in the memory of another process.
class LoaderLocks {
 public:
  LoaderLocks(pid_t pid, const std::vector<Mapping>& mappings);
  // True if any thread of the process holds a lock of the dynamic loader. Takes microseconds. The process
  // need not be stopped.
  [[nodiscard]] bool Held() const;
  // True if `thread` holds a lock of the dynamic loader.
  [[nodiscard]] bool HeldBy(pid_t thread) const;
  // True if `address` lies in the loader's _rtld_global.
  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }

 private:
  template <typename IsOwner>
  bool AnyHeld(IsOwner is_owner) const;

  pid_t pid_;
  uint64_t begin_ = 0;  // address of _rtld_global, which contains the loader's locks
  uint64_t bytes_ = 0;
};

// Returns the threads that may get breakpoints now: the running threads, or the sleeping threads if none
// runs. Leaves out threads that block SIGTRAP or SIGSEGV, and threads in a system call that an interruption
// would end (epoll_wait).
std::vector<pid_t> ThreadsToWatch(pid_t pid);

// Returns the bytes from `address`, which is in a thread's stack, to the lowest address of that stack.
// Returns 0 if `address` is not mapped.
uint64_t StackBelow(uint64_t address, const std::vector<Mapping>& mappings);

}  // namespace vramscope::attach
