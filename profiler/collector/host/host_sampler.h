// SPDX-License-Identifier: Apache-2.0
// Host memory of the recorded processes, read from /proc at most four times a second.
//
// Why a thread: the kernel takes up to tens of milliseconds for smaps_rollup of a large process.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace vramscope::collector {

// Figures of one process from /proc, in bytes. 0 if not reported.
struct HostFigures {
  uint64_t rss = 0;         // resident: anonymous, file-backed and shared
  uint64_t rss_anon = 0;    // heap and similar; in a forked child also pages shared with its parent
  uint64_t rss_shared = 0;  // of /dev/shm, memfd and shared anonymous mappings
  uint64_t rss_peak = 0;    // highest rss so far, counted by the kernel
  uint64_t swap = 0;
  uint64_t pss = 0;       // rss, each page divided by the number of processes that map it; read rarely
  uint64_t shm_used = 0;  // used by all processes in this process's /dev/shm
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

// Parse the text of /proc/PID/status and /proc/PID/smaps_rollup. Missing figures keep their value. False if
// the process has no memory any more.
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

  // `key` is the caller's number for the process. If no thread can be created, nothing is sampled.
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
