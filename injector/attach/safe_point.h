// SPDX-License-Identifier: Apache-2.0
// Where and when a thread of the target can be made to call dlopen.
//
// Safe is the entry of malloc: the caller expects that anything may be allocated, so it holds no lock of the
// C library's allocator. Not safe, even there, while any thread holds a lock of the dynamic loader: another
// thread's would make us wait for it, and under our own thread's the loader's lists are half changed.
#pragma once

#include <cstdint>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {

// The entries of all functions `malloc` that the process has (the C library's, jemalloc's, ...), at most
// four.
std::vector<uint64_t> MallocEntries(pid_t pid, const std::vector<Mapping>& mappings);

class LoaderLocks {
 public:
  LoaderLocks(pid_t pid, const std::vector<Mapping>& mappings);
  // True when one of them is held by a thread of the process. Takes microseconds; the process may be running.
  [[nodiscard]] bool Held() const;
  // True when `thread` holds one.
  [[nodiscard]] bool HeldBy(pid_t thread) const;
  // True when `address` lies among them.
  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }

 private:
  template <typename IsOwner>
  bool AnyHeld(IsOwner is_owner) const;

  pid_t pid_;
  uint64_t begin_ = 0;  // of the loader's _rtld_global; its locks are recursive mutexes in there
  uint64_t bytes_ = 0;
};

// Which threads may be given breakpoints now, those that run first. Left out: threads that block SIGTRAP or
// SIGSEGV (the kernel would take the program's handlers away to deliver ours), and threads in a system call
// that does not go on by itself after an interruption (epoll_wait and the like return EINTR).
std::vector<pid_t> ThreadsToWatch(pid_t pid);

// Bytes between `address`, in the stack of a thread, and the end of that stack.
uint64_t StackBelow(uint64_t address, const std::vector<Mapping>& mappings);

}  // namespace vramscope::attach
