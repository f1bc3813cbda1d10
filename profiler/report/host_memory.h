// SPDX-License-Identifier: Apache-2.0
// Host memory of a training run: its main process, the workers of its data loader, shared and page-locked
// memory, and whether one of these grows.
//
// Sources: the counters that the recorder samples (docs/host-memory.md), and the driver's calls for pinned
// memory.
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
  uint64_t peak_shared_bytes = 0;          // peak of the shared part: /dev/shm, memfd
  std::optional<uint64_t> peak_pss_bytes;  // PSS: shared pages divided among their processes
  std::optional<Growth> growth;
};

struct PinnedHostMemory {
  uint64_t peak_bytes = 0;
  uint64_t peak_pytorch_bytes = 0;  // of PyTorch's caching host allocator, used or cached
};

struct HostMemory {
  HostProcess main;
  std::vector<HostProcess> workers;  // descendants of the main process, in order of start
  // The largest sum over the workers at one time.
  uint64_t workers_peak_rss_bytes = 0;
  std::optional<uint64_t> workers_peak_pss_bytes;
  std::optional<Growth> workers_growth;
  uint64_t shm_peak_bytes = 0;  // of /dev/shm, by all processes on the machine or in the container
  uint64_t shm_size_bytes = 0;
  std::optional<PinnedHostMemory> pinned;
};

// For the process `main` and its descendants. Nothing if no host memory was sampled and none was pinned.
[[nodiscard]] std::optional<HostMemory> FindHostMemory(const model::Run& run, model::ProcessIndex main,
                                                       const timeline::Training& training);

// A value that is valid from a given time on.
struct TimedValue {
  uint64_t time_ns = 0;
  uint64_t value = 0;
};
// The growth of `values` (in order of time) between `begin_ns` and `end_ns`. The interval is divided into
// four equal parts. Their medians must rise from each part to the next, and by at least 8 MiB and 2 % in
// total. Nothing if they do not, or if there are fewer than eight values.
//
// Example: medians of 400, 404, 409 and 412 MiB are a growth of 12 MiB, because 12 MiB are 3 % of 400.
[[nodiscard]] std::optional<uint64_t> FindGrowth(const std::vector<TimedValue>& values, uint64_t begin_ns,
                                                 uint64_t end_ns);

}  // namespace vramscope::report
