// SPDX-License-Identifier: Apache-2.0
// Dry runs whose result must hold for any data. No kernel computes on the simulated GPU, so computed values
// are assumed. If memory may depend on these values, the program runs again with others.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::experiment {

// One run of the plan's command. If the run fails with assumed zeros, it is repeated with computed integers.
// If its memory depends on data, it is repeated for the upper bound (DryrunResult::upper). plan.say announces
// further runs.
[[nodiscard]] Result<DryrunResult> RunWithBounds(const DryrunPlan& plan, DryrunRunner& runner,
                                                 CommandOutput output);

// Runs of the same program whose results are compared. Once a run needs assumptions, all later runs use them.
class Series {
 public:
  Series(const DryrunPlan& plan, DryrunRunner& runner);

  // `log`: gets the command's output.
  [[nodiscard]] Result<DryrunResult> Run(const std::vector<std::string>& command,
                                         const collector::SimulatedDevice& device, uint64_t order,
                                         std::string& log);

 private:
  [[nodiscard]] bool DependsOnMasks(const DryrunResult& result) const;
  void TakeUpperBound(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                      uint64_t order, DryrunResult& result);

  const DryrunPlan& plan_;
  DryrunRunner& runner_;
  std::optional<AssumedValues> assumed_;
};

}  // namespace vramscope::experiment
