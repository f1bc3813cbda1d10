// SPDX-License-Identifier: Apache-2.0
// Finds out on which GPU models a program fits, with as few runs as possible, for `vramscope dryrun --gpu
// all`. If the program's memory use depends on the kind of GPU, the program runs on the largest GPU of each
// kind; otherwise only on the largest of all. Models that are too close to their limit get their own run.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::experiment {

class GpuRuns {
 public:
  // Runs the plan's command on this device; nullopt: it was not judged.
  using Run = std::function<std::optional<DryrunResult>(const collector::SimulatedDevice&)>;

  GpuRuns(const DryrunPlan& plan, Run run) : plan_(plan), run_(std::move(run)) {}

  // One row for each model of the plan's table. False: a run was not judged.
  bool Fill();
  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }
  [[nodiscard]] const DryrunResult& first() const { return runs_.front(); }

 private:
  [[nodiscard]] const DryrunResult* Near(const collector::GpuModel& gpu) const;
  std::optional<GpuRow> RowOfRun(const collector::GpuModel& gpu);

  const DryrunPlan& plan_;
  Run run_;
  std::deque<DryrunResult> runs_;  // completed runs, the largest GPU first
  std::vector<GpuRow> rows_;       // smallest first
};

}  // namespace vramscope::experiment
