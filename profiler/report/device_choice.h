// SPDX-License-Identifier: Apache-2.0
// Chooses the device that an answer describes. All commands use the same rule:
//
//   1. Only devices that match --device, --process and --rank are considered.
//   2. If a failed allocation ended a process, the device of the first such failure is chosen.
//   3. Otherwise, GPUs are preferred to the CPU, then processes that train to others, then the highest peak.
//
// Example: ranks 0 to 3 train on cuda:0 to cuda:3, and rank 2 runs out of memory. `report run.vms` is then
// about rank 2 on cuda:2 and mentions 3 others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"

namespace vramscope::report {

// The names of a device in texts for the user.
struct Spoken {
  std::string device;  // "cuda:1"
  uint32_t pid = 0;
  std::optional<uint32_t> rank;  // RankOf()
  uint32_t others = 0;           // other devices that match the request
  // "rank 1 (process 4711), cuda:1"; "rank 37 on node-09 (process 4711), cuda:5" on several hosts. Without a
  // rank: "process 4711, cuda:1", or "cuda:1" for a single process.
  std::string text;
};

// Returns the curve of allocated bytes of each device, by DeviceIndex.
[[nodiscard]] std::vector<timeline::DeviceCurve> CurvesOf(const model::Run& run);

// Returns the rank of a training process, from RANK and the variables of mpirun and srun. Without these
// variables, the processes that used a GPU are numbered by GPU, then by start. Returns nullopt for other
// processes.
[[nodiscard]] std::optional<uint32_t> RankOf(const model::Run& run, model::ProcessIndex process);

// Chooses a device by the rule above. Returns kNone if nothing was allocated and the request names no device,
// process or rank. If the named device does not exist, the error lists the devices. `curves`: from
// CurvesOf().
[[nodiscard]] Result<model::DeviceIndex> ChooseDevice(const model::Run& run,
                                                      const std::vector<timeline::DeviceCurve>& curves,
                                                      const Request& request);

// Returns all devices that match the request, ordered by rank, process and device. If ChooseDevice chooses a
// GPU, only GPUs are returned. Otherwise, the CPU of each process that trains is returned. Empty if nothing
// was allocated. Fails under the same conditions as ChooseDevice.
[[nodiscard]] Result<std::vector<model::DeviceIndex>> ChooseDevices(
    const model::Run& run, const std::vector<timeline::DeviceCurve>& curves, const Request& request);

// Describes a device in words. `meant`: all devices that match the request, including `device`.
// Spoken::others is 0 if `meant` is empty.
[[nodiscard]] Spoken SpokenOf(const model::Run& run, model::DeviceIndex device,
                              const std::vector<model::DeviceIndex>& meant = {});

struct ChosenFailure {
  size_t index = 0;  // into Run::out_of_memory
  model::DeviceIndex device = 0;
  size_t number = 0;            // 1-based, among the failures that match the request
  size_t number_on_device = 0;  // 1-based, among the failures of this device in this process
  size_t all = 0;               // number of failures that match the request
  bool ended_its_process = false;
};
// Returns failure `number` (from 1, in order of time) among the failures that match the request; nullopt if
// there are fewer. Number 0 is the first failure that ended its process, or else the last failure. A failure
// ended its process if the process had no later failure and finished no later step. A process with exit
// status 0 does not count.
[[nodiscard]] std::optional<ChosenFailure> ChooseFailure(const model::Run& run, const Request& request,
                                                         size_t number);

// Returns the error "nothing was allocated in this run, so nothing can grow.", and the reason if it is known.
// `so`: the part after "so"; "" = none.
[[nodiscard]] Error NothingAllocated(const model::Run& run, std::string_view so);

}  // namespace vramscope::report
