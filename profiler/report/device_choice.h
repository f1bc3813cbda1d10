// SPDX-License-Identifier: Apache-2.0
// Which device of which process an answer is about: one rule for all verbs.
//
//   1. what the request names: --device, --process, --rank
//   2. the device on which an allocation failed and ended its process, the first such failure of the run
//   3. a GPU before the CPU, a process that trains before one that does not, then the highest peak
//
// Example: ranks 0 to 3 train on cuda:0 to cuda:3, and rank 2 runs out of memory. `report run.vms` is about
// rank 2 on cuda:2 and mentions 3 others; `report run.vms --rank 1` is about rank 1 on cuda:1.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/report/request.h"
#include "profiler/timeline/curve.h"

namespace vramscope::report {

// A device of a process, in the words of answers.
struct Spoken {
  std::string device;  // "cuda:1"
  uint32_t pid = 0;
  std::optional<uint32_t> rank;  // RankOf()
  uint32_t others = 0;           // other devices that match the request and that the answer leaves out
  // "rank 1 (process 4711), cuda:1"; "rank 37 on node-09 (process 4711), cuda:5" if the job has several
  // hosts. Without a rank: "process 4711, cuda:1", or only "cuda:1" if the run has one process.
  std::string text;
};

// The curves of all devices, by DeviceIndex.
[[nodiscard]] std::vector<timeline::DeviceCurve> CurvesOf(const model::Run& run);

// The rank of a process among those that train together, from its environment (RANK and the variables of
// mpirun and srun). If the trace has no such variable and several processes used a GPU, it is the process's
// index among these: in order of their GPUs, then of their start. Nothing for other processes.
[[nodiscard]] std::optional<uint32_t> RankOf(const model::Run& run, model::ProcessIndex process);

// Chooses the device by the rule above. Returns kNone if nothing was allocated and the request names nothing.
// If the named device does not exist, fails with a sentence that lists the devices. `curves` by DeviceIndex.
[[nodiscard]] Result<model::DeviceIndex> ChooseDevice(const model::Run& run,
                                                      const std::vector<timeline::DeviceCurve>& curves,
                                                      const Request& request);

// All devices that match the request, for verbs that judge each of them. If it names none: each GPU of each
// process; if no GPU was used, the CPU of each process that trains. In order of process and device; empty if
// nothing was allocated. Fails as ChooseDevice does.
[[nodiscard]] Result<std::vector<model::DeviceIndex>> ChooseDevices(
    const model::Run& run, const std::vector<timeline::DeviceCurve>& curves, const Request& request);

// `device` in words. `meant`: all devices that match the request, including `device`; it gives
// Spoken::others, which is 0 if `meant` is empty.
[[nodiscard]] Spoken SpokenOf(const model::Run& run, model::DeviceIndex device,
                              const std::vector<model::DeviceIndex>& meant = {});

// A failed allocation that matches the request.
struct ChosenFailure {
  size_t index = 0;  // into Run::out_of_memory
  model::DeviceIndex device = 0;
  size_t number = 0;            // 1-based, among the failures that match the request
  size_t number_on_device = 0;  // 1-based, among the failures of this device in this process
  size_t all = 0;               // number of failures that match the request
  bool ended_its_process = false;
};
// Returns failure `number` (1-based, in order of time) among those that match the request; nothing if there
// are fewer. 0: the first failure that ended its process; if none did, the last one. A failure ended its
// process if the process had no later failure, finished no step after it, and is not known to have succeeded.
[[nodiscard]] std::optional<ChosenFailure> ChooseFailure(const model::Run& run, const Request& request,
                                                         size_t number);

// "nothing was allocated in this run, so nothing can grow.", and the reason if known. `so`: the consequence;
// "" = none.
[[nodiscard]] Error NothingAllocated(const model::Run& run, std::string_view so);

}  // namespace vramscope::report
