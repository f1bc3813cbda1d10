// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/safe_point.h"

#include <signal.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "injector/attach/remote_image.h"
#include "injector/attach/tracee.h"

namespace vramscope::attach {
namespace {

constexpr uint64_t kGrowingStackBytes = 1 << 20;  // a main thread's stack can grow by at least this much
constexpr uint64_t kMostLoaderBytes = 1 << 16;

// glibc's pthread_mutex_t on x86-64 (sysdeps/nptl/bits/struct_mutex.h).
struct Mutex {
  int32_t lock;
  uint32_t count;
  int32_t owner;
  uint32_t users;
  int32_t kind;
};
constexpr int32_t kRecursive = 1;

// System calls that return EINTR after any stop, whatever the signal's handler (signal(7)).
constexpr long kFragileCalls[] = {
#if defined(__x86_64__)
    SYS_epoll_wait,      333 /* io_pgetevents */,
#endif
    SYS_epoll_pwait,     441 /* epoll_pwait2 */,  SYS_semop,  SYS_semtimedop,
    SYS_rt_sigtimedwait, SYS_io_getevents,        SYS_msgrcv, SYS_msgsnd};

bool InFragileCall(pid_t pid, pid_t thread) {
  const std::string text =
      ReadProcFile("/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread) + "/syscall");
  if (text.empty() || text[0] < '0' || text[0] > '9') return false;  // it runs
  const long call = std::strtol(text.c_str(), nullptr, 10);
  return std::find(std::begin(kFragileCalls), std::end(kFragileCalls), call) != std::end(kFragileCalls);
}

bool BlocksOurSignals(pid_t pid, pid_t thread) {
  constexpr uint64_t kOurs = uint64_t{1} << (SIGTRAP - 1) | uint64_t{1} << (SIGSEGV - 1);
  return (NumberIn(ThreadStatusOf(pid, thread, "SigBlk"), 16, kOurs) & kOurs) != 0;
}

}  // namespace

std::vector<uint64_t> MallocEntries(pid_t pid, const std::vector<Mapping>& mappings) {
  std::vector<uint64_t> entries;
  std::set<uint64_t> seen;
  for (const Mapping& mapping : mappings) {
    // The loader uses its own malloc only until the C library is loaded.
    if (mapping.offset != 0 || !mapping.path.starts_with('/') || FileNameOf(mapping).starts_with("ld-"))
      continue;
    const auto image = RemoteImage::Read(pid, mapping.begin);
    const uint64_t entry = image ? image->Find("malloc") : 0;
    if (entry == 0 || !seen.insert(entry).second) continue;
    entries.push_back(entry);
    if (entries.size() == kMostBreakpoints) break;
  }
  return entries;
}

LoaderLocks::LoaderLocks(pid_t pid, const std::vector<Mapping>& mappings) : pid_(pid) {
  begin_ = FindIn(pid, mappings, {"ld-linux", "ld-2.", "ld.so"}, "_rtld_global", &bytes_);
  bytes_ = std::min(bytes_, kMostLoaderBytes);
}

template <typename IsOwner>
bool LoaderLocks::AnyHeld(IsOwner is_owner) const {
  std::vector<int32_t> words(bytes_ / sizeof(int32_t));
  if (begin_ == 0 || !ReadMemory(pid_, begin_, words.data(), words.size() * sizeof(int32_t))) return false;
  for (size_t i = 0; i + sizeof(Mutex) / sizeof(int32_t) <= words.size(); i += 2) {
    const Mutex mutex = {words[i], static_cast<uint32_t>(words[i + 1]), words[i + 2],
                         static_cast<uint32_t>(words[i + 3]), words[i + 4]};
    const bool held = (mutex.lock == 1 || mutex.lock == 2) && mutex.count >= 1 && mutex.users == 1 &&
                      mutex.kind == kRecursive && mutex.owner > 0;
    if (held && is_owner(mutex.owner)) return true;
  }
  return false;
}

// Owners are numbered in the process's own namespace, which may not be ours: any owner counts.
bool LoaderLocks::Held() const {
  return AnyHeld([](pid_t) { return true; });
}

bool LoaderLocks::HeldBy(pid_t thread) const {
  const auto inside = ThreadStatusOf(pid_, thread, "NSpid");  // our number first, the innermost last
  const size_t last = inside ? inside->find_last_of("\t ") : std::string::npos;
  const pid_t own = last == std::string::npos
                        ? thread
                        : static_cast<pid_t>(std::strtol(inside->c_str() + last + 1, nullptr, 10));
  return AnyHeld([own](pid_t owner) { return owner == own; });
}

std::vector<pid_t> ThreadsToWatch(pid_t pid) {
  std::vector<pid_t> running, others;
  for (const pid_t thread : ThreadsOf(pid)) {
    const auto state = ThreadStatusOf(pid, thread, "State");
    if (!state || state->starts_with('Z') || state->starts_with('D') || BlocksOurSignals(pid, thread))
      continue;
    if (state->starts_with('R')) {
      running.push_back(thread);
    } else if (!InFragileCall(pid, thread)) {
      others.push_back(thread);
    }
  }
  return running.empty() ? others : running;
}

uint64_t StackBelow(uint64_t address, const std::vector<Mapping>& mappings) {
  for (const Mapping& mapping : mappings) {
    if (!mapping.Contains(address)) continue;
    return mapping.path == "[stack]" ? kGrowingStackBytes : address - mapping.begin;
  }
  return 0;
}

}  // namespace vramscope::attach
