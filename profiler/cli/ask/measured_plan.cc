// SPDX-License-Identifier: Apache-2.0
// Verifies a plan by running the command on the simulated GPU, on Linux only. The rest of plan only reads
// files and works on every system.
#include <fmt/format.h>

#include "profiler/cli/ask/plan_verify.h"
#include "profiler/cli/ask/try_screen.h"
#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

using experiment::CommandOutput;
using experiment::TryRunner;

Verified Verify(const plan::Changes& changes, const std::vector<std::string>& command,
                const collector::GpuModel& gpu) {
  Verified verified;
  const Result<Change> change = ChangeOf(changes);
  const Result<std::string> folder = collector::FindSimulatedCuda();
  if (!change.ok() || !folder.ok()) {
    verified.why_not = change.ok() ? folder.error().sentence : change.error().sentence;
    return verified;
  }
  TryPlan plan;
  plan.change = *change;
  plan.dry = true;
  plan.simulated_folder = *folder;
  plan.run.command = command;
  plan.run.device.gpu = gpu;
  plan.run.depth = "light";
  plan.run.say = Say;
  TryRunner runner(plan);
  std::vector<Outcome> outcomes;
  const Result<Measured> measured = runner.After(CommandOutput::kToFile, &outcomes);
  if (!measured.ok()) {
    verified.why_not = measured.error().sentence;
  } else if (measured->FailedOtherwise()) {
    verified.refuted = true;
    verified.why_not = "the command fails with the change, but not for lack of memory";
  } else if (!measured->fits || !measured->reserved_bytes) {
    verified.refuted = !measured->fits;
    verified.why_not = measured->fits ? "the command allocated nothing on the GPU"
                                      : fmt::format("it runs out of memory on the simulated {}", gpu.name);
  } else {
    for (const Outcome& outcome : outcomes) {
      if (outcome.applied.empty() && !outcome.refused.empty()) verified.why_not = outcome.refused.front();
    }
    verified.allocated_bytes = measured->answer.peak.allocated_bytes;
    verified.reserved_bytes = verified.at_most_bytes = *measured->reserved_bytes;
    verified.device_used_bytes = measured->device_used_bytes.value_or(0);
  }
  return verified;
}

}  // namespace vramscope::cli
