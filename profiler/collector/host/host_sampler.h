// SPDX-License-Identifier: Apache-2.0
// Samples the host memory of the recorded processes from /proc, at most four times a second.
//
// Sampling has its own thread, because reading smaps_rollup of a large process can take tens of milliseconds.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::collector {

// Memory figures of one process, in bytes. A figure that the kernel does not report is 0.
struct HostFigures {
  uint64_t rss = 0;         // resident memory: anonymous, file-backed and shared
  uint64_t rss_anon = 0;    // resident anonymous memory; in a forked child also pages shared with the parent
  uint64_t rss_shared = 0;  // resident memory of /dev/shm, memfd and shared anonymous mappings
  uint64_t rss_peak = 0;    // highest rss so far, as counted by the kernel
  uint64_t swap = 0;
  uint64_t pss = 0;       // rss, with each page divided by the number of its processes; read rarely
  uint64_t shm_used = 0;  // bytes that all processes use in this process's /dev/shm
  uint64_t shm_size = 0;
};
struct HostFigureName {
  const char* name;  // name of the counter in the trace
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

// Parse the text of /proc/PID/status and of /proc/PID/smaps_rollup. Figures that are missing in the text keep
// their value. ReadStatusText returns false if the process has no memory, which means that it has ended.
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

  // Starts sampling a process. `key` identifies the process in HostSample. If the sampling thread cannot be
  // created, nothing is sampled.
  void Watch(uint32_t pid, uint32_t key);
  void Forget(uint32_t key);
  // Returns the samples since the last call, in time order.
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
