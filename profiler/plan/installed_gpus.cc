// SPDX-License-Identifier: Apache-2.0
// The table of GPUs of the installation. In a browser, viewer/platform/web/gpus.cc replaces this file.
#include <algorithm>

#include "profiler/collector/launch/simulated_device.h"
#include "profiler/plan/fit_limit.h"
#include "profiler/text/harmless.h"

namespace vramscope::plan {

Result<std::vector<collector::GpuModel>> GpuTable() {
  const std::string folder = VRAMSCOPE_TRY(collector::FindSimulatedCuda());
  return collector::ListGpus(folder);
}

Result<collector::GpuModel> FindGpu(const std::string& name) {
  const auto gpus = VRAMSCOPE_TRY(GpuTable());
  const auto named = std::ranges::find(gpus, name, &collector::GpuModel::name);
  if (named != gpus.end()) return *named;
  return Error{"--gpu " + text::OneLine(name) + ": no such model. See: vramscope dryrun --gpu list."};
}

}  // namespace vramscope::plan
