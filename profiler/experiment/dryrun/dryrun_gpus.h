// SPDX-License-Identifier: Apache-2.0
// Derives answers for other GPUs from a run on one GPU, for `vramscope dryrun --gpu all`.
//
// Why: PyTorch's requests hardly depend on the GPU. The run also shows what other GPUs would use outside
// PyTorch: context, kernel code, NCCL. The allocator model replays the history with the remaining memory
// (profiler/allocator/rerun.h).
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

// Memory that the processes of the fullest device would have used on other GPUs
// (injector/simulated_cuda/elsewhere.h).
struct Elsewhere {
  std::map<int, uint64_t> kernel_bytes;        // by compute capability: 89
  std::map<std::string, uint64_t> nccl_bytes;  // by model
  bool fused_attention = false;                // fused attention ran; its kind depends on the GPU
};

// Reads the files "PID.elsewhere" in `folder` for these processes, or all files if none are given.
Elsewhere ReadElsewhere(const std::string& folder, std::span<const ProcessShare> processes);

// A number for the kind of attention in PyTorch. The kinds: below 8.0; cuDNN's (9.x and 10.x); all others.
int AttentionKind(int compute_capability);

// The facts of a run that are needed for other GPUs.
struct MeasuredRun {
  const collector::GpuModel& gpu;
  const DeviceLedger& ledger;  // of the fullest device
  const Elsewhere& elsewhere;
  const allocator::History* history = nullptr;  // of its only process; nullptr = none
  uint64_t peak_allocated = 0;
  uint64_t peak_reserved = 0;
};

enum class AnsweredBy {
  kRun,         // from a run on that GPU
  kReplay,      // from the allocator model at that capacity
  kConclusion,  // the peaks are far from the limit
};

struct GpuRow {
  collector::GpuModel gpu;
  bool fits = false;
  bool retries = false;  // fits only because PyTorch frees cached memory
  AnsweredBy answered_by = AnsweredBy::kRun;
  uint64_t used_bytes = 0;  // upper bound; 0 if it does not fit
};

// Bytes outside PyTorch's allocator if the program ran on `gpu`.
uint64_t BesidePyTorch(const MeasuredRun& run, const collector::GpuModel& gpu);

// The answer for `gpu`. The measured run must have fitted. nullopt: too close to the limit, so `gpu` needs
// its own run.
std::optional<GpuRow> Conclude(const MeasuredRun& run, const collector::GpuModel& gpu);

}  // namespace vramscope::experiment
