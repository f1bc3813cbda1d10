// SPDX-License-Identifier: Apache-2.0
// Which device of which process an answer speaks of: one rule for all verbs.
//
//   1. what the request names: --device, --process, --rank
//   2. the device on which an allocation failed and ended its process, the first such failure of the run
//   3. a GPU before the CPU, a process that trains before one that does not, then the highest peak
//
// Example: ranks 0 to 3 train on cuda:0 to cuda:3, and rank 2 runs out of memory. `report run.vms` speaks of
// rank 2 on cuda:2 and says that there are 3 others; `report run.vms --rank 1` speaks of rank 1 on cuda:1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"

namespace vramscope::report {

// A device of a process, as answers name it.
struct Spoken {
  std::string device;  // "cuda:1"
  uint32_t pid = 0;
  std::optional<uint32_t> rank;  // RankOf()
  uint32_t others = 0;  // devices of processes that the request means too, and that the answer leaves out
  std::string text;     // "rank 1 (process 4711), cuda:1"; without the process in a run of one process
};

// Of all devices, by DeviceIndex.
[[nodiscard]] std::vector<timeline::DeviceCurve> CurvesOf(const model::Run& run);

// The rank of a process among those that train together: as its environment says (RANK and the variables of
// mpirun and srun). Where the trace has no such variable, the number of the process among those that used a
// GPU, in order of these GPUs, then of their start, if there are several. Nothing for other processes.
[[nodiscard]] std::optional<uint32_t> RankOf(const model::Run& run, model::ProcessIndex process);

// The device that the request means, by the rule above. kNone when nothing was allocated and nothing was
// named. Fails with a sentence that lists the devices when the named one does not exist. `curves` by
// DeviceIndex.
[[nodiscard]] Result<model::DeviceIndex> ChooseDevice(const model::Run& run,
                                                      const std::vector<timeline::DeviceCurve>& curves,
                                                      const Request& request);

// All devices that the request means, for verbs that judge all: without a name, each GPU of each process, or
// where no GPU was used the CPU of each process that trains. In order of process and device; empty when
// nothing was allocated. Fails as ChooseDevice does.
[[nodiscard]] Result<std::vector<model::DeviceIndex>> ChooseDevices(
    const model::Run& run, const std::vector<timeline::DeviceCurve>& curves, const Request& request);

// `device` of the run in words, and how many others `request` means.
[[nodiscard]] Spoken SpokenOf(const model::Run& run, model::DeviceIndex device,
                              const std::vector<model::DeviceIndex>& meant = {});

// A failed allocation that the request means.
struct ChosenFailure {
  size_t index = 0;  // into Run::out_of_memory
  model::DeviceIndex device = 0;
  size_t number = 0;            // of the failures that the request means, from 1
  size_t number_on_device = 0;  // of the failures of this device in this process, from 1
  size_t all = 0;               // failures that the request means
  bool ended_its_process = false;
};
// Failure `number` of those that the request means, from 1 in order of time. 0: the first that ended its
// process (nothing finished a step after it, and the process is not known to have succeeded); where none did,
// the last one. Nothing when there are fewer.
[[nodiscard]] std::optional<ChosenFailure> ChooseFailure(const model::Run& run, const Request& request,
                                                         size_t number);

// "nothing was allocated in this run, so nothing can grow.", and why where that is known. `so`: what follows;
// "" = nothing.
[[nodiscard]] Error NothingAllocated(const model::Run& run, std::string_view so);

}  // namespace vramscope::report
