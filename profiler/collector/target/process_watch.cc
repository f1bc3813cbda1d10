// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_watch.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "trace_format/process_identity.h"

namespace vramscope::collector {
namespace {

// struct pidfd_info of <linux/pidfd.h> in its first size, which every later kernel accepts.
struct PidfdInfo {
  uint64_t mask = 0;
  uint64_t cgroup = 0;
  uint32_t ids[11] = {};  // pid, tgid, ppid, and those of users and groups
  int32_t exit_code = 0;
};
static_assert(sizeof(PidfdInfo) == 64);
constexpr unsigned long kGetInfo = _IOWR(0xff, 11, PidfdInfo);
constexpr uint64_t kExitInfo = 1 << 3;

constexpr int kStartTicks = 22, kExitCode = 52;  // fields of /proc/PID/stat

// The exit status, available from Linux 6.15 on once the parent has waited for the process.
std::optional<int32_t> StatusAfterWait(int pidfd) {
  PidfdInfo info;
  info.mask = kExitInfo;
  if (pidfd < 0 || ioctl(pidfd, kGetInfo, &info) != 0 || (info.mask & kExitInfo) == 0) return std::nullopt;
  return info.exit_code;
}

// The exit status, available until the parent has waited for the process.
std::optional<int32_t> StatusOfZombie(uint32_t pid, uint64_t start_ticks) {
  const std::string name = std::to_string(pid);
  const auto status = static_cast<int32_t>(trace::StatFieldOf(name.c_str(), kExitCode));
  if (pid == 0 || start_ticks == 0 || trace::StatFieldOf(name.c_str(), kStartTicks) != start_ticks)
    return std::nullopt;
  return status;
}

}  // namespace

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

std::optional<int32_t> ProcessWatch::ExitStatus(uint64_t start_ticks) const {
  if (const auto status = StatusAfterWait(pidfd_)) return status;
  if (const auto status = StatusOfZombie(pid_, start_ticks)) return status;
  return StatusAfterWait(pidfd_);  // the parent may have waited between the two
}

}  // namespace vramscope::collector
