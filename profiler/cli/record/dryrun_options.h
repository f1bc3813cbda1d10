// SPDX-License-Identifier: Apache-2.0
// The options of `vramscope dryrun` that define its runs.
#pragma once

#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "profiler/experiment/dryrun/dryrun_plan.h"
#include "trace_format/result.h"

namespace vramscope::cli {

using experiment::DryrunPlan;

// `models` are those of gpus.def and of --gpu-file. An error means bad usage.
Result<DryrunPlan> PlanFrom(const Arguments& arguments, const std::vector<collector::GpuModel>& models);

}  // namespace vramscope::cli
