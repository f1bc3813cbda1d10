// SPDX-License-Identifier: Apache-2.0
// Host memory of a training run: its main process, the data loader's workers, shared and page-locked memory,
// and growth.
//
// Sources: sampled counters (docs/host-memory.md), and driver calls for pinned memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/training.h"

namespace vramscope::report {

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
  uint64_t shm_peak_bytes = 0;  // of /dev/shm, all processes of the machine or container
  uint64_t shm_size_bytes = 0;
  std::optional<PinnedHostMemory> pinned;
};

// For the process `main` and its descendants. Nothing if no host memory was sampled or pinned.
[[nodiscard]] std::optional<HostMemory> FindHostMemory(const model::Run& run, model::ProcessIndex main,
                                                       const timeline::Training& training);

struct TimedValue {
  uint64_t time_ns = 0;
  uint64_t value = 0;
};
// The growth of `values` (in order of time) between `begin_ns` and `end_ns`. Medians of the four quarters
// must rise each time, and by at least 8 MiB and 2 % in total. Otherwise nothing; also nothing for fewer than
// eight values.
//
// Example: medians of 400, 404, 409 and 412 MiB are a growth of 12 MiB (3 %).
[[nodiscard]] std::optional<uint64_t> FindGrowth(const std::vector<TimedValue>& values, uint64_t begin_ns,
                                                 uint64_t end_ns);

}  // namespace vramscope::report
