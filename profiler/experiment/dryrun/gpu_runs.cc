// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/gpu_runs.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace vramscope::experiment {
namespace {

std::optional<GpuRow> RowFrom(const DryrunResult& run, const collector::GpuModel& gpu) {
  if (!run.fits) return GpuRow{gpu, false, false, AnsweredBy::kConclusion, 0};  // not even on a larger GPU
  return Conclude({run.device.gpu, run.ledger, run.elsewhere, run.history ? &*run.history : nullptr,
                   run.answer.peak.allocated_bytes, run.PeakReserved()},
                  gpu);
}

}  // namespace

bool GpuRuns::Fill() {
  std::vector<collector::GpuModel> models = plan_.table;
  std::ranges::stable_sort(models, std::greater<>(), &collector::GpuModel::capacity_bytes);
  for (const collector::GpuModel& gpu : models) {
    const DryrunResult* const near = Near(gpu);
    std::optional<GpuRow> row = near != nullptr ? RowFrom(*near, gpu) : std::nullopt;
    if (!row) row = RowOfRun(gpu);
    if (!row) return false;
    rows_.push_back(*row);
  }
  std::ranges::reverse(rows_);
  return true;
}

// The run whose figures apply to this GPU: one with the same compute capability, or else with the same
// kind of attention; nullptr if there is none.
const DryrunResult* GpuRuns::Near(const collector::GpuModel& gpu) const {
  const bool one_kind = !runs_.empty() && !runs_.front().elsewhere.fused_attention;
  const DryrunResult* of_kind = nullptr;
  for (const DryrunResult& run : runs_) {
    const int capability = run.device.gpu.compute_capability;
    if (capability == gpu.compute_capability) return &run;
    const bool alike = one_kind || AttentionKind(capability) == AttentionKind(gpu.compute_capability);
    if (of_kind == nullptr && alike) of_kind = &run;
  }
  return of_kind;
}

std::optional<GpuRow> GpuRuns::RowOfRun(const collector::GpuModel& gpu) {
  collector::SimulatedDevice device = plan_.device;
  device.gpu = gpu;
  std::optional<DryrunResult> run = run_(device);
  if (!run) return std::nullopt;
  const GpuRow row{gpu, run->fits, run->Retried(), AnsweredBy::kRun, run->ledger.peak_bytes};
  runs_.push_back(std::move(*run));
  return row;
}

}  // namespace vramscope::experiment
