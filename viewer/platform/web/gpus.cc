// SPDX-License-Identifier: Apache-2.0
// The table of GPUs, which is part of the module.
#include "profiler/plan/fit_limit.h"

namespace vramscope::plan {
namespace {

constexpr const char* kTable =
#include "gpus.inc"
    ;

}  // namespace

Result<std::vector<collector::GpuModel>> GpuTable() { return collector::ParseGpus(kTable); }

}  // namespace vramscope::plan
