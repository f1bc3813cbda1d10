// SPDX-License-Identifier: Apache-2.0
// What a run on one GPU says about others, for `vramscope dryrun --gpu all`: which fit, which only when
// PyTorch gives back what it keeps free.
//
// Why: what PyTorch asks for hardly depends on the GPU, so one history answers for all. What the others would
// take beside PyTorch is known from the run (context, code of kernels, NCCL: the libraries say it for every
// model); what PyTorch would do with what is left, the allocator's model says by running the history again at
// that capacity (profiler/allocator/rerun.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiler/allocator/history.h"
#include "profiler/cli/record/device_ledger.h"
#include "profiler/collector/launch/simulated_device.h"

namespace vramscope::cli {

// What the processes of the fullest device would have taken on GPUs of other models
// (injector/simulated_cuda/elsewhere.h).
struct Elsewhere {
  std::map<int, uint64_t> kernel_bytes;        // by compute capability, 89
  std::map<std::string, uint64_t> nccl_bytes;  // by model
  bool fused_attention = false;                // which kind of attention runs depends on the GPU
};

// The files "PID.elsewhere" in `folder`, of these processes; with none named, of all.
Elsewhere ReadElsewhere(const std::string& folder, std::span<const ProcessShare> processes);

// GPUs on which PyTorch attends in the same way: before 8.0, cuDNN's (9.x, 10.x), and the others.
int AttentionKind(int compute_capability);

// A run as far as it speaks of other GPUs.
struct MeasuredRun {
  const collector::GpuModel& gpu;
  const DeviceLedger& ledger;  // of the fullest device
  const Elsewhere& elsewhere;
  const allocator::History* history = nullptr;  // of its only process; nullptr = none
  uint64_t peak_allocated = 0;                  // of PyTorch, on that device
  uint64_t peak_reserved = 0;
};

enum class AnsweredBy {
  kRun,         // of its own
  kReplay,      // of the history through the allocator's model at that capacity
  kConclusion,  // from the peaks: far enough from the limit
};

struct GpuRow {
  collector::GpuModel gpu;
  bool fits = false;
  bool retries = false;  // fits because PyTorch gives back what it keeps free, and asks again
  AnsweredBy answered_by = AnsweredBy::kRun;
  uint64_t used_bytes = 0;  // at most; 0 where it does not fit
};

// Bytes of the device that are not PyTorch's allocator's, were the run on `gpu`.
uint64_t BesidePyTorch(const MeasuredRun& run, const collector::GpuModel& gpu);

// Nullopt: too near to the limit to say, so `gpu` needs a run of its own. The run fitted.
std::optional<GpuRow> Conclude(const MeasuredRun& run, const collector::GpuModel& gpu);

}  // namespace vramscope::cli
