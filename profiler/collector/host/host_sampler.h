// SPDX-License-Identifier: Apache-2.0
// Host memory of the recorded processes, read from /proc four times a second at most.
//
// Why in the collector and not in the target: reading another process's /proc costs that process nothing. Why
// a thread of its own: the proportional share (smaps_rollup) makes the kernel walk the whole address space,
// up to tens of milliseconds for a large process, in which no ring would be drained. While it walks the
// kernel lets go of the target's memory map whenever the target wants it (Linux 5.11 and later).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::collector {

// What /proc says of one process. Bytes; 0 where it does not say.
struct HostFigures {
  uint64_t rss = 0;       // resident: anonymous, of files, shared
  uint64_t rss_anon = 0;  // its heap and the like; a forked child counts what it still shares with its parent
  uint64_t rss_shared = 0;  // of /dev/shm, memfd and shared anonymous mappings
  uint64_t rss_peak = 0;    // the highest ever, as the kernel saw it
  uint64_t swap = 0;
  uint64_t pss = 0;       // resident, each page divided by the number of processes that have it; asked rarely
  uint64_t shm_used = 0;  // of the /dev/shm that the process sees, by everybody
  uint64_t shm_size = 0;
};
struct HostFigureName {
  const char* name;  // of the counter in the trace
  uint64_t HostFigures::*figure;
};
inline constexpr HostFigureName kHostFigures[] = {
    {"host.rss", &HostFigures::rss},
    {"host.rss_anon", &HostFigures::rss_anon},
    {"host.rss_shared", &HostFigures::rss_shared},
    {"host.rss_peak", &HostFigures::rss_peak},
    {"host.swap", &HostFigures::swap},
    {"host.pss", &HostFigures::pss},
    {"host.shm_used", &HostFigures::shm_used},
    {"host.shm_size", &HostFigures::shm_size},
};

// From the text of /proc/PID/status and /proc/PID/smaps_rollup; what they lack stays as it is. False when the
// process has no memory any more.
bool ReadStatusText(const std::string& status, HostFigures& figures);
void ReadRollupText(const std::string& rollup, HostFigures& figures);

struct HostSample {
  uint64_t monotonic_ns = 0;
  uint32_t key = 0;
  HostFigures figures;  // one that could not be read is what it was before
};

class HostSampler {
 public:
  HostSampler() = default;
  ~HostSampler();
  HostSampler(const HostSampler&) = delete;
  HostSampler& operator=(const HostSampler&) = delete;

  // `key` is the caller's name for the process. The thread starts with the first one; where none can be had
  // nothing is sampled.
  void Watch(uint32_t pid, uint32_t key);
  void Forget(uint32_t key);
  // What was read since the last call, in order of time.
  std::vector<HostSample> Take();

 private:
  struct Watched {
    uint32_t pid = 0;
    uint32_t key = 0;
    HostFigures last;
  };

  void Run();
  void ReadOne(Watched& watched, bool with_share);

  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<Watched> watched_;
  std::vector<HostSample> samples_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace vramscope::collector
