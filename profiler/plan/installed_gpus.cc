// SPDX-License-Identifier: Apache-2.0
// The table of GPUs of the installation. In a browser there is none: viewer/platform/web has another file.
#include "profiler/collector/launch/simulated_device.h"
#include "profiler/plan/fit_limit.h"

namespace vramscope::plan {

Result<std::vector<collector::GpuModel>> GpuTable() {
  const std::string folder = VRAMSCOPE_TRY(collector::FindSimulatedCuda());
  return collector::ListGpus(folder);
}

}  // namespace vramscope::plan
