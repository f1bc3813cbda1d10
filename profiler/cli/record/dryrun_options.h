// SPDX-License-Identifier: Apache-2.0
// Converts the options of `vramscope dryrun` to a DryrunPlan.
#pragma once

#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/experiment/dryrun/dryrun_plan.h"
#include "trace_format/result.h"

namespace vramscope::cli {

using experiment::DryrunPlan;

// `models` are the GPU models of gpus.def and of --gpu-file. Returns an error if the options are wrong.
Result<DryrunPlan> PlanFrom(const Arguments& arguments, const std::vector<collector::GpuModel>& models);

}  // namespace vramscope::cli
