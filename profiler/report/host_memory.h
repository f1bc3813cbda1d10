// SPDX-License-Identifier: Apache-2.0
// Host memory of a training: its main process, its data loader's workers, what they share and what is
// page-locked, and whether one of them grows.
//
// From the counters that the recorder samples (docs/host-memory.md) and the driver's calls for pinned memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

// Memory that only rises over the steps: see FindGrowth.
struct Growth {
  uint64_t bytes = 0;
  uint64_t bytes_per_step = 0;
};

struct HostProcess {
  uint32_t pid = 0;
  std::string role;
  uint64_t peak_rss_bytes = 0;
  uint64_t peak_shared_bytes = 0;          // of that, shared memory (/dev/shm, memfd)
  std::optional<uint64_t> peak_pss_bytes;  // shared pages divided among those who have them
  std::optional<Growth> growth;
};

struct PinnedHostMemory {
  uint64_t peak_bytes = 0;
  uint64_t peak_pytorch_bytes = 0;  // of PyTorch: its caching host allocator, used or cached
};

struct HostMemory {
  HostProcess main;
  std::vector<HostProcess> workers;  // the main process's descendants, in order of their start
  // The largest sum over the workers at one time.
  uint64_t workers_peak_rss_bytes = 0;
  std::optional<uint64_t> workers_peak_pss_bytes;
  std::optional<Growth> workers_growth;
  uint64_t shm_peak_bytes = 0;  // of /dev/shm, by everybody on the machine or in the container
  uint64_t shm_size_bytes = 0;
  std::optional<PinnedHostMemory> pinned;
};

// Of the process `main` and its descendants. Nothing when no host memory was sampled and nothing pinned.
[[nodiscard]] std::optional<HostMemory> FindHostMemory(const model::Run& run, model::ProcessIndex main,
                                                       const timeline::Training& training);

// A value that holds from a time on.
struct TimedValue {
  uint64_t time_ns = 0;
  uint64_t value = 0;
};
// What `values` (in order of time) rise by between `begin_ns` and `end_ns`: the medians of four equal parts
// of that time rise from each to the next, by 8 MiB and by 2 % together at least. Nothing when they do not,
// or are fewer than eight.
[[nodiscard]] std::optional<uint64_t> FindGrowth(const std::vector<TimedValue>& values, uint64_t begin_ns,
                                                 uint64_t end_ns);

}  // namespace vramscope::report
