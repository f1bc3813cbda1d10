// SPDX-License-Identifier: Apache-2.0
// Derives from a run on one GPU whether the program fits on other GPU models, for `vramscope dryrun --gpu
// all`.
//
// This works because PyTorch's requests hardly depend on the GPU model. The run also reports what other
// models would use outside PyTorch: context, kernel code and NCCL. The allocator model then replays the
// history of the run with the memory that remains for PyTorch (profiler/allocator/rerun.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/collector/launch/simulated_device.h"
#include "profiler/experiment/dryrun/device_ledger.h"

namespace vramscope::experiment {

// The memory that the processes would have used on other GPU models, for the device with the highest use
// (injector/simulated_cuda/elsewhere.h).
struct Elsewhere {
  std::map<int, uint64_t> kernel_bytes;        // by compute capability: 89 for 8.9
  std::map<std::string, uint64_t> nccl_bytes;  // by GPU model: "rtx-4090"
  bool fused_attention = false;                // true if fused attention ran; its kernels depend on the GPU
};

// Reads the files "PID.elsewhere" in `folder` for these processes. Reads all such files if `processes` is
// empty.
Elsewhere ReadElsewhere(const std::string& folder, std::span<const ProcessShare> processes);

// Returns which attention kernels PyTorch uses: 0 below compute capability 8.0, 2 (of cuDNN) for 9.x and
// 10.x, otherwise 1. `compute_capability`: 89 for 8.9.
int AttentionKind(int compute_capability);

// The facts of a run on one GPU that the other functions need.
struct MeasuredRun {
  const collector::GpuModel& gpu;
  const DeviceLedger& ledger;  // of the device with the highest use
  const Elsewhere& elsewhere;
  const allocator::History* history = nullptr;  // of the device's only process; nullptr if it has several
  uint64_t peak_allocated = 0;
  uint64_t peak_reserved = 0;
};

enum class AnsweredBy {
  kRun,         // a run on this GPU
  kReplay,      // a replay in the allocator model with this GPU's memory
  kConclusion,  // the figures of the run, because they are far from this GPU's limit
};

struct GpuRow {
  collector::GpuModel gpu;
  bool fits = false;
  bool retries = false;  // true if it fits only because PyTorch frees cached memory and retries
  AnsweredBy answered_by = AnsweredBy::kRun;
  uint64_t used_bytes = 0;  // upper bound of the peak; 0 if the program does not fit
};

// Returns the bytes that the program would use outside PyTorch's allocator on `gpu`.
uint64_t BesidePyTorch(const MeasuredRun& run, const collector::GpuModel& gpu);

// Returns the answer for `gpu`, from a run that fitted on its GPU. Returns nullopt if the figures are too
// close to the limit. The program must then run on `gpu`.
std::optional<GpuRow> Conclude(const MeasuredRun& run, const collector::GpuModel& gpu);

}  // namespace vramscope::experiment
