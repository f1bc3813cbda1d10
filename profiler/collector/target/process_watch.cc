// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace vramscope::collector {

ProcessWatch::ProcessWatch(uint32_t pid)
    : pid_(pid),
      pidfd_(pid == 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0))) {}

ProcessWatch::~ProcessWatch() {
  if (pidfd_ >= 0) close(pidfd_);
}

ProcessWatch::ProcessWatch(ProcessWatch&& other) noexcept
    : pid_(other.pid_), pidfd_(std::exchange(other.pidfd_, -1)) {}

ProcessWatch& ProcessWatch::operator=(ProcessWatch&& other) noexcept {
  pid_ = other.pid_;
  std::swap(pidfd_, other.pidfd_);
  return *this;
}

bool ProcessWatch::HasEnded() const {
  if (pid_ == 0) return true;
  if (pidfd_ < 0) return kill(static_cast<pid_t>(pid_), 0) != 0 && errno == ESRCH;
  pollfd ready{pidfd_, POLLIN, 0};
  return poll(&ready, 1, 0) == 1;
}

}  // namespace vramscope::collector
