// SPDX-License-Identifier: Apache-2.0
// The table of GPUs as a part of the program: there are no libraries of a simulated GPU beside it.
#include "profiler/collector/launch/simulated_device.h"

namespace vramscope::collector {
namespace {

constexpr const char* kTable =
#include "gpus.inc"
    ;

}  // namespace

Result<std::string> FindSimulatedCuda() { return std::string(); }

Result<std::vector<GpuModel>> ListGpus(const std::string&) { return ParseGpus(kTable); }

}  // namespace vramscope::collector
