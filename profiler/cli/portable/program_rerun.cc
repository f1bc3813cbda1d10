// SPDX-License-Identifier: Apache-2.0
// Re-runs on systems other than Linux: they fail, because the simulated GPU needs Linux. Answers from re-runs
// that a trace keeps still work.
#include "profiler/experiment/program_rerun.h"

#include "profiler/cli/ask/plan_layouts.h"
#include "profiler/cli/ask/plan_verify.h"

namespace vramscope {
namespace {

constexpr const char* kOnLinux =
    "programs can be re-run only on Linux; ask once there, and the trace then contains the answer";

}  // namespace

namespace experiment {

std::vector<Result<trace::Bytes>> RunPrograms(std::string_view, std::span<const Changes> wanted,
                                              const RerunSetting&) {
  return {wanted.size(), Error{kOnLinux}};
}

}  // namespace experiment

namespace cli {

Verified Verify(const plan::Changes&, const std::vector<std::string>&, const collector::GpuModel&) {
  Verified verified;
  verified.why_not = kOnLinux;
  return verified;
}

Result<int> PlanLayouts(const Arguments&, const Terminal&) { return Error{kOnLinux}; }

}  // namespace cli
}  // namespace vramscope
