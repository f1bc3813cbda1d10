// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/host/host_sampler.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <system_error>

#include "profiler/collector/order/clock_map.h"
#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kInterval = std::chrono::milliseconds(250);
// One process costs about 30 us; with more than a hundred processes the interval grows.
constexpr nanoseconds kIntervalForEach = std::chrono::milliseconds(2);
// The proportional share is read at most every two seconds, and takes at most half a percent of a core.
constexpr nanoseconds kShareInterval = std::chrono::seconds(2);
constexpr int kShareRest = 200;
constexpr const char* kSharedFolder = "/dev/shm";  // below the root directory of the process

// Reads "VmRSS:     1234 kB"; false if there is no such line.
bool Kilobytes(const std::string& text, std::string_view key, uint64_t& bytes) {
  size_t at = text.starts_with(key) ? 0 : text.find(fmt::format("\n{}", key));
  if (at == std::string::npos) return false;
  at = text.find_first_of("0123456789", at + key.size());
  if (at == std::string::npos) return false;
  uint64_t number = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), number);
  bytes = number << 10;
  return true;
}

void ReadSharedFolder(uint32_t pid, HostFigures& figures) {
  struct statvfs folder {};
  if (statvfs(fmt::format("/proc/{}/root{}", pid, kSharedFolder).c_str(), &folder) != 0) return;
  figures.shm_size = uint64_t{folder.f_blocks} * folder.f_frsize;
  figures.shm_used = uint64_t{folder.f_blocks - folder.f_bfree} * folder.f_frsize;
}

}  // namespace

bool ReadStatusText(const std::string& status, HostFigures& figures) {
  if (!Kilobytes(status, "VmRSS:", figures.rss)) return false;
  Kilobytes(status, "RssAnon:", figures.rss_anon);
  Kilobytes(status, "RssShmem:", figures.rss_shared);
  Kilobytes(status, "VmHWM:", figures.rss_peak);
  Kilobytes(status, "VmSwap:", figures.swap);
  return true;
}

void ReadRollupText(const std::string& rollup, HostFigures& figures) {
  Kilobytes(rollup, "Pss:", figures.pss);
}

HostSampler::~HostSampler() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostSampler::Watch(uint32_t pid, uint32_t key) {
  {
    const std::lock_guard lock(mutex_);
    watched_.push_back({pid, key, {}});
  }
  if (thread_.joinable()) return;
  // Signals are handled by the recorder's thread.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {  // no thread available: the trace has no host memory
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void HostSampler::Forget(uint32_t key) {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [&](const Watched& watched) { return watched.key == key; });
}

std::vector<HostSample> HostSampler::Take() {
  const std::lock_guard lock(mutex_);
  std::vector<HostSample> taken;
  taken.swap(samples_);
  return taken;
}

void HostSampler::Run() {
  uint64_t next_share_ns = 0;
  std::unique_lock lock(mutex_);
  while (!stop_) {
    const nanoseconds interval = std::max(kInterval, kIntervalForEach * static_cast<int>(watched_.size()));
    wake_.wait_for(lock, interval, [this] { return stop_; });
    if (stop_) return;
    std::vector<Watched> reading = watched_;
    lock.unlock();
    const uint64_t begin_ns = MonotonicNs();
    const bool with_share = begin_ns >= next_share_ns;
    for (Watched& watched : reading) ReadOne(watched, with_share);
    if (with_share) {
      const uint64_t took_ns = MonotonicNs() - begin_ns;
      next_share_ns = begin_ns + std::max<uint64_t>(kShareInterval.count(), kShareRest * took_ns);
    }
    lock.lock();
    for (const Watched& read : reading) {
      const auto still = std::find_if(watched_.begin(), watched_.end(),
                                      [&](const Watched& watched) { return watched.key == read.key; });
      if (still != watched_.end()) still->last = read.last;
    }
  }
}

void HostSampler::ReadOne(Watched& watched, bool with_share) {
  HostFigures& figures = watched.last;
  if (!ReadStatusText(ReadWhole(fmt::format("/proc/{}/status", watched.pid)), figures)) return;
  ReadSharedFolder(watched.pid, figures);
  if (with_share) ReadRollupText(ReadWhole(fmt::format("/proc/{}/smaps_rollup", watched.pid)), figures);
  const uint64_t now_ns = MonotonicNs();
  const std::lock_guard lock(mutex_);
  samples_.push_back({now_ns, watched.key, figures});
}

}  // namespace vramscope::collector
