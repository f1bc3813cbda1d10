// SPDX-License-Identifier: Apache-2.0
// The table of GPUs, compiled in: this program is installed without the libraries of the simulated GPU.
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
