// SPDX-License-Identifier: Apache-2.0
// Chooses the device that an answer is about: one rule for all verbs.
//
//   1. what the request names: --device, --process, --rank
//   2. the device on which an allocation failed and ended its process, the first such failure of the run
//   3. a GPU before the CPU, a process that trains before one that does not, then the highest peak
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

struct Spoken {
  std::string device;  // "cuda:1"
  uint32_t pid = 0;
  std::optional<uint32_t> rank;  // RankOf()
  uint32_t others = 0;           // other devices that match the request
  // "rank 1 (process 4711), cuda:1"; "rank 37 on node-09 (process 4711), cuda:5" on several hosts. Without a
  // rank: "process 4711, cuda:1", or "cuda:1" for a single process.
  std::string text;
};

// By DeviceIndex.
[[nodiscard]] std::vector<timeline::DeviceCurve> CurvesOf(const model::Run& run);

// The rank of a training process, from RANK and the variables of mpirun and srun. Without these: its index
// among the processes that used a GPU, by GPU and then start. Nothing for other processes.
[[nodiscard]] std::optional<uint32_t> RankOf(const model::Run& run, model::ProcessIndex process);

// Chooses by the rule above. kNone if nothing was allocated and the request names nothing. If the named
// device does not exist, the error lists the devices. `curves` by DeviceIndex.
[[nodiscard]] Result<model::DeviceIndex> ChooseDevice(const model::Run& run,
                                                      const std::vector<timeline::DeviceCurve>& curves,
                                                      const Request& request);

// All matching devices, in order of process and device. If the request names none: each GPU of each process.
// Without GPUs: the CPU of each process that trains. Empty if nothing was allocated. Fails as ChooseDevice
// does.
[[nodiscard]] Result<std::vector<model::DeviceIndex>> ChooseDevices(
    const model::Run& run, const std::vector<timeline::DeviceCurve>& curves, const Request& request);

// `meant`: all devices that match the request, including `device`. Spoken::others is 0 if `meant` is empty.
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
// Failure `number` (1-based, in order of time) among those that match the request; nothing if there are
// fewer. 0: the first that ended its process; if none did, the last one. A failure ended its process if the
// process later had no failure and finished no step. A process that is known to have succeeded does not
// count.
[[nodiscard]] std::optional<ChosenFailure> ChooseFailure(const model::Run& run, const Request& request,
                                                         size_t number);

// "nothing was allocated in this run, so nothing can grow.", and the reason if known. `so`: a consequence to
// add; "" = none.
[[nodiscard]] Error NothingAllocated(const model::Run& run, std::string_view so);

}  // namespace vramscope::report
