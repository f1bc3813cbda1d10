// SPDX-License-Identifier: Apache-2.0
// Finds the GPU models on which a program fits, for `vramscope dryrun --gpu all`, with as few runs as
// possible. The program runs on the largest GPU. If fused attention ran, the program runs on the largest GPU
// of each kind of attention (AttentionKind). Models whose memory limit is close get their own run.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::experiment {

class GpuRuns {
 public:
  // Runs the plan's command on this device. Returns nullopt if the run has no result, for example because the
  // command failed.
  using Run = std::function<std::optional<DryrunResult>(const collector::SimulatedDevice&)>;

  GpuRuns(const DryrunPlan& plan, Run run) : plan_(plan), run_(std::move(run)) {}

  // Fills rows() with one row for each model. Returns false if a run has no result.
  bool Fill();
  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }
  // The run on the largest GPU.
  [[nodiscard]] const DryrunResult& first() const { return runs_.front(); }

 private:
  [[nodiscard]] const DryrunResult* Near(const collector::GpuModel& gpu) const;
  std::optional<GpuRow> RowOfRun(const collector::GpuModel& gpu);

  const DryrunPlan& plan_;
  Run run_;
  std::deque<DryrunResult> runs_;  // the run on the largest GPU first
  std::vector<GpuRow> rows_;       // smallest first
};

}  // namespace vramscope::experiment
