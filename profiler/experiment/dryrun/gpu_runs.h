// SPDX-License-Identifier: Apache-2.0
// Finds the GPU models on which a program fits, with few runs, for `vramscope dryrun --gpu all`. The program
// runs on the largest GPU, or on the largest of each kind of attention (AttentionKind) if fused attention
// ran. Models close to their limit get their own run.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::experiment {

class GpuRuns {
 public:
  // Runs the plan's command on this device. nullopt: the run was not judged.
  using Run = std::function<std::optional<DryrunResult>(const collector::SimulatedDevice&)>;

  GpuRuns(const DryrunPlan& plan, Run run) : plan_(plan), run_(std::move(run)) {}

  // One row for each model. False: a run was not judged.
  bool Fill();
  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }
  [[nodiscard]] const DryrunResult& first() const { return runs_.front(); }

 private:
  [[nodiscard]] const DryrunResult* Near(const collector::GpuModel& gpu) const;
  std::optional<GpuRow> RowOfRun(const collector::GpuModel& gpu);

  const DryrunPlan& plan_;
  Run run_;
  std::deque<DryrunResult> runs_;  // the largest GPU first
  std::vector<GpuRow> rows_;       // smallest first
};

}  // namespace vramscope::experiment
