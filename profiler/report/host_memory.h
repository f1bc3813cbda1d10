// SPDX-License-Identifier: Apache-2.0
// Computes the host memory of a training run: memory of the main process and of the data loader's workers,
// shared memory, pinned memory, and how they grow.
//
// The figures come from sampled counters (docs/host-memory.md); those of pinned memory come from driver
// calls.
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
  uint64_t peak_pytorch_bytes = 0;  // peak of PyTorch's caching host allocator, including cached memory
};

struct HostMemory {
  HostProcess main;
  std::vector<HostProcess> workers;  // descendants of the main process, in order of start
  // The highest sum over all workers at one time.
  uint64_t workers_peak_rss_bytes = 0;
  std::optional<uint64_t> workers_peak_pss_bytes;
  std::optional<Growth> workers_growth;
  uint64_t shm_peak_bytes = 0;  // most bytes used in /dev/shm, by all processes of the machine or container
  uint64_t shm_size_bytes = 0;  // size of /dev/shm
  std::optional<PinnedHostMemory> pinned;
};

// Returns the host memory of the process `main` and its descendants; nullopt if the trace has neither samples
// of host memory nor pinned memory.
[[nodiscard]] std::optional<HostMemory> FindHostMemory(const model::Run& run, model::ProcessIndex main,
                                                       const timeline::Training& training);

struct TimedValue {
  uint64_t time_ns = 0;
  uint64_t value = 0;
};
// Returns by how many bytes `values` (in order of time) grew between `begin_ns` and `end_ns`. The time is
// divided into four quarters. The median of each quarter must be higher than the one before, and the last
// must exceed the first by at least 8 MiB and 2 %. Otherwise, or with fewer than eight values, returns
// nullopt.
//
// Example: if the medians are 400, 404, 409 and 412 MiB, the growth is 12 MiB (3 %).
[[nodiscard]] std::optional<uint64_t> FindGrowth(const std::vector<TimedValue>& values, uint64_t begin_ns,
                                                 uint64_t end_ns);

}  // namespace vramscope::report
