// SPDX-License-Identifier: Apache-2.0
// Dry runs whose result must hold for any input data. The simulated GPU runs no kernels, so values that the
// program reads from the device are assumed. If the memory may depend on such values, the program runs again
// with other assumed values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::experiment {

// Runs the plan's command. If the run fails with assumed zeros, the command runs again with computed
// integers. If the memory of the run depends on data, the command runs once more for the upper bound
// (DryrunResult::upper). plan.say announces these further runs.
[[nodiscard]] Result<DryrunResult> RunWithBounds(const DryrunPlan& plan, DryrunRunner& runner,
                                                 CommandOutput output);

// Several runs of the same program whose results are compared. If one run needs assumptions other than zeros,
// all later runs use the same assumptions.
class Series {
 public:
  Series(const DryrunPlan& plan, DryrunRunner& runner);

  // `log` receives the command's output.
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
