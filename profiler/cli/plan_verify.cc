// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/plan_verify.h"

#include <fmt/format.h>

#include <map>
#include <sstream>

#include "profiler/cli/terminal.h"
#include "profiler/cli/try_screen.h"

namespace vramscope::cli {
namespace {

constexpr size_t kMostRuns = 16;
constexpr uint64_t kMoreWork = 4;  // for a search: running the command takes seconds anyway

}  // namespace

Result<Change> ChangeOf(const plan::Changes& changes) {
  Change change;
  for (const whatif::Asked& asked : changes) {
    if (const Status added = Ask(asked.lever, asked.value, change); !added.ok()) return added.error();
    if (const char* why = change.WhyBeyond(asked.lever))
      return Error{fmt::format("--{} cannot be applied from outside the program: {}", asked.lever, why)};
  }
  return change;
}

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
  TryRunner runner(plan);
  std::vector<Outcome> outcomes;
  const Result<Measured> measured = runner.After(CommandOutput::kToFile, &outcomes);
  if (!measured.ok()) {
    verified.why_not = measured.error().sentence;
  } else if (measured->FailedOtherwise()) {
    verified.refuted = true;
    verified.why_not = "the command fails with the change, otherwise than by lack of memory";
  } else if (!measured->fits || !measured->reserved_bytes) {
    verified.refuted = !measured->fits;
    verified.why_not = measured->fits ? "the command allocated nothing on the GPU"
                                      : fmt::format("it runs out of memory on the simulated {}", gpu.name);
  } else {
    for (const Outcome& outcome : outcomes) {
      if (outcome.applied.empty() && !outcome.refused.empty()) verified.why_not = outcome.refused.front();
    }
    verified.allocated_bytes = measured->answer.peak.allocated_bytes;
    verified.reserved_bytes = *measured->reserved_bytes;
    verified.device_used_bytes = measured->device_used_bytes.value_or(0);
  }
  return verified;
}

VerifiedPlans FindVerifiedPlans(const whatif::Step& step, const whatif::Baseline& baseline,
                                plan::Request question, const std::vector<std::string>& command,
                                const collector::GpuModel& gpu) {
  question.need.bound = false;
  question.work *= kMoreWork;
  VerifiedPlans found;
  std::map<std::string, Verified> known;
  const auto look_at = [&](const plan::Plan& plan) {
    const std::string text = plan::TextOf(plan.verdict.changes);
    const auto [place, is_new] = known.try_emplace(text);
    if (!is_new) return;
    Verified& verified = place->second;
    if (known.size() > kMostRuns)
      verified.why_not = fmt::format("{} others were run", kMostRuns);
    else
      verified = Verify(plan.verdict.changes, command, gpu);
    uint64_t needed = verified.reserved_bytes;
    if (!verified.why_not.empty()) {
      const whatif::Prediction& prediction = plan.verdict.prediction;
      needed = prediction.band.ReservedAtMost(prediction.after.allocator.reserved_peak);
    } else if (needed > question.limit) {
      verified.refuted = true;
    }
    if (verified.refuted) found.left_out.emplace_back(plan.verdict.changes, verified);
    question.need.known[text] = verified.refuted && !verified.why_not.empty() ? UINT64_MAX : needed;
  };
  // Each round knows more; the last one tells nothing that was not known before.
  for (size_t rounds_known = SIZE_MAX; rounds_known != known.size();) {
    rounds_known = known.size();
    found.plans = plan::MakePlans(step, baseline, question);
    if (found.plans.fits_already) return found;
    for (const plan::Plan& plan : found.plans.plans) look_at(plan);
  }
  for (const plan::Plan& plan : found.plans.plans)
    found.verified.push_back(known.at(plan::TextOf(plan.verdict.changes)));
  return found;
}

Result<std::vector<std::string>> RecordedCommand(const std::string& command_line, bool may_run) {
  // A trace may come from anybody: what it names is shown, and run only when that was asked for.
  if (!may_run) {
    const std::string named =
        command_line.empty()
            ? ""
            : fmt::format(" The trace names \"{}\"; --run-recorded runs that.", Printable(command_line));
    return Error{"--verify runs a command: give it behind --." + named};
  }
  const Error unclear{
      "the command of the trace cannot be run again from its text; give it: plan RUN --fit 24GiB --verify -- "
      "python train.py"};
  if (command_line.empty() || command_line.find_first_of("'\"\\`$") != std::string::npos) return unclear;
  std::vector<std::string> words;
  std::istringstream parts(command_line);
  for (std::string word; parts >> word;) words.push_back(word);
  if (words.empty()) return unclear;
  return words;
}

}  // namespace vramscope::cli
