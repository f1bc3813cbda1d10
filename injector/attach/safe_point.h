// SPDX-License-Identifier: Apache-2.0
// Where and when a thread of the target can be made to call dlopen.
//
// The entry of malloc is safe for the C library's allocator: a thread that calls malloc holds none of the
// allocator's locks. But dlopen is not safe while any thread holds a lock of the dynamic loader. If another
// thread holds it, our call would wait. If the stopped thread itself holds it, the loader's lists are half
// changed.
#pragma once

#include <cstdint>
#include <vector>

#include "injector/attach/process_view.h"

namespace vramscope::attach {

// The entries of all functions named `malloc` in the process (the C library's, jemalloc's, ...), at most
// four.
std::vector<uint64_t> MallocEntries(pid_t pid, const std::vector<Mapping>& mappings);

class LoaderLocks {
 public:
  LoaderLocks(pid_t pid, const std::vector<Mapping>& mappings);
  // True if any thread of the process holds one of the loader's locks. Takes microseconds; the process may be
  // running.
  [[nodiscard]] bool Held() const;
  // True if `thread` holds one of these locks.
  [[nodiscard]] bool HeldBy(pid_t thread) const;
  // True if `address` lies in the loader's _rtld_global.
  [[nodiscard]] bool Contains(uint64_t address) const { return address - begin_ < bytes_; }

 private:
  template <typename IsOwner>
  bool AnyHeld(IsOwner is_owner) const;

  pid_t pid_;
  uint64_t begin_ = 0;  // of the loader's _rtld_global, which contains its locks (recursive mutexes)
  uint64_t bytes_ = 0;
};

// Which threads may get breakpoints now; running threads come first. Left out: threads that block SIGTRAP or
// SIGSEGV (the kernel would remove the program's handlers to deliver ours), and threads in a system call that
// an interruption ends (epoll_wait and the like return EINTR).
std::vector<pid_t> ThreadsToWatch(pid_t pid);

// Bytes between `address`, in the stack of a thread, and the end of that stack.
uint64_t StackBelow(uint64_t address, const std::vector<Mapping>& mappings);

}  // namespace vramscope::attach
