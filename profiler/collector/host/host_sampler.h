// SPDX-License-Identifier: Apache-2.0
// Host memory of the recorded processes, read from /proc at most four times a second.
//
// Why in the collector and not in the target: reading another process's /proc costs that process nothing. Why
// on its own thread: for the proportional share (smaps_rollup) the kernel walks the whole address space. That
// takes up to tens of milliseconds for a large process, in which no ring would be drained. During the walk
// the kernel releases the target's memory map whenever the target needs it (Linux 5.11 and later).
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::collector {

// What /proc reports for one process, in bytes; 0 if it does not report a figure.
struct HostFigures {
  uint64_t rss = 0;         // resident: anonymous, file-backed and shared
  uint64_t rss_anon = 0;    // heap and similar; a forked child counts what it still shares with its parent
  uint64_t rss_shared = 0;  // of /dev/shm, memfd and shared anonymous mappings
  uint64_t rss_peak = 0;    // highest resident size so far, as the kernel counted it
  uint64_t swap = 0;
  uint64_t pss = 0;       // resident, each page divided by the number of processes that map it; read rarely
  uint64_t shm_used = 0;  // used by all processes in the /dev/shm that this process sees
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

// Parse the text of /proc/PID/status and /proc/PID/smaps_rollup. Figures that the text lacks keep their
// value. False if the process has no memory any more.
bool ReadStatusText(const std::string& status, HostFigures& figures);
void ReadRollupText(const std::string& rollup, HostFigures& figures);

struct HostSample {
  uint64_t monotonic_ns = 0;
  uint32_t key = 0;
  HostFigures figures;  // a figure that could not be read keeps its previous value
};

class HostSampler {
 public:
  HostSampler() = default;
  ~HostSampler();
  HostSampler(const HostSampler&) = delete;
  HostSampler& operator=(const HostSampler&) = delete;

  // `key` is the caller's number for the process. The first call starts the thread; if no thread can be
  // created, nothing is sampled.
  void Watch(uint32_t pid, uint32_t key);
  void Forget(uint32_t key);
  // The samples since the last call, in time order.
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
