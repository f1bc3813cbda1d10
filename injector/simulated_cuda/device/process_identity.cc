// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/process_identity.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace vramscope::simulated {
namespace {

struct Stat {
  char state;
  long threads;
  unsigned long long started;
};

enum class Found { kYes, kGone, kUnknown };

// /proc/PID/stat: "1234 (name) S ...", where the name may contain anything, even ')'.
Found ReadStat(uint32_t pid, Stat* stat) {
  char path[32];
  std::snprintf(path, sizeof(path), "/proc/%u/stat", pid);
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return errno == ENOENT ? Found::kGone : Found::kUnknown;
  char text[1024];
  const ssize_t length = read(file, text, sizeof(text) - 1);
  const bool gone = length < 0 && errno == ESRCH;
  close(file);
  if (length <= 0) return gone ? Found::kGone : Found::kUnknown;
  text[length] = '\0';
  const char* const after_name = std::strrchr(text, ')');
  if (after_name == nullptr) return Found::kUnknown;
  // Fields 3, 20 and 22.
  const int fields = std::sscanf(
      after_name + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld %*d %llu",
      &stat->state, &stat->threads, &stat->started);
  return fields == 3 ? Found::kYes : Found::kUnknown;
}

// A process whose first thread has ended looks dead, except for its other threads.
bool IsDead(const Stat& stat) { return stat.state == 'X' || (stat.state == 'Z' && stat.threads <= 1); }

std::atomic<uint64_t> known;  // this process's identity, pid first

}  // namespace

trace::SharingProcess ThisProcess() {
  const auto pid = static_cast<uint32_t>(getpid());
  const uint64_t last = known.load(std::memory_order_relaxed);
  if (last >> 32 == pid) return {pid, static_cast<uint32_t>(last)};
  Stat stat = {};
  ReadStat(pid, &stat);
  const auto started = static_cast<uint32_t>(stat.started);
  known.store(uint64_t{pid} << 32 | started, std::memory_order_relaxed);
  return {pid, started};
}

bool IsAlive(const trace::SharingProcess& process) {
  if (process == ThisProcess()) return true;
  Stat stat = {};
  switch (ReadStat(process.pid, &stat)) {
    case Found::kYes:
      return !IsDead(stat) && static_cast<uint32_t>(stat.started) == process.started;
    case Found::kGone:
      return ThisProcess().started == 0;  // without /proc nobody can be found there
    case Found::kUnknown:
      break;
  }
  return true;
}

}  // namespace vramscope::simulated
