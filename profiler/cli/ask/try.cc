// SPDX-License-Identifier: Apache-2.0
// `vramscope try`: runs the command with a change that is not in its code, and measures its memory.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "profiler/allocator/bfc/bfc_replay.h"
#include "profiler/allocator/settings.h"
#include "profiler/cli/ask/try_options.h"
#include "profiler/cli/ask/try_screen.h"
#include "profiler/cli/record/dryrun_options.h"
#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/launch/torch_location.h"
#include "profiler/experiment/dryrun/command_output.h"

namespace vramscope::cli {

using experiment::Change;
using experiment::CommandOutput;
using experiment::DryrunPlan;
using experiment::TryRunner;

const VerbHelp& TryHelp() {
  static const VerbHelp help = [] {
    VerbHelp made = {"try",
                     "run a command with a change, without editing its code, and compare",
                     "try CHANGE... [options] [--] COMMAND...",
                     {{"vramscope try --amp bf16 --checkpoint all -- python train.py",
                       "run it twice: unchanged and changed"},
                      {"vramscope try --dry --gpu a100-40gb --batch 0.5x --optimizer sgd -- python train.py",
                       "do the same on a simulated GPU"}},
                     {}};
    const std::span<const Option> changes = ChangeOptions();
    made.options.assign(changes.begin(), changes.end());
    const std::vector<Option> others = {
        {"dry", '\0', nullptr, "Run on the simulated GPU of --gpu."},
        {"gpu", '\0', "MODEL[:N]", "The GPU model and the number of GPUs, as for `vramscope dryrun`."},
        {"capacity", '\0', "24GiB", "Memory of each simulated GPU; default: the model's own."},
        {"world-size", '\0', "W", "With --dry: run only one rank of a job with W ranks."},
        {"rank", '\0', "R", "The rank to run, from 0; default 0."},
        {"keep-init", '\0', nullptr, "With --dry: initialize large weights too."},
        {"xla", '\0', "on|off",
         "With --dry. off: Keras' jit_compile=\"auto\" does not compile the step. That is quicker."},
        {"steps", '\0', "N|all",
         "End the command after N optimizer steps. Default: when the peak has not grown\n"
         "for two steps, but not before the sixth."},
        {"before", '\0', "FILE", "Compare with this trace of the unchanged command instead of running it."},
        {"keep", '\0', "FOLDER", "Keep the traces in this folder as before.vms and after.vms."},
        {"json", '\0', nullptr,
         "Print one JSON document instead (docs/json.md); the command's own output goes to stderr."}};
    made.options.insert(made.options.end(), others.begin(), others.end());
    return made;
  }();
  return help;
}

namespace {

// Command, steps and device, as `vramscope dryrun` reads them; without --dry, no device is requested.
Result<DryrunPlan> RunPlanFrom(const Arguments& arguments, const std::vector<collector::GpuModel>& models) {
  std::vector<std::string> words;
  for (const char* option : {"gpu", "capacity", "steps", "world-size", "rank", "xla"})
    if (arguments.Has(option)) words.insert(words.end(), {std::string("--") + option, arguments.Get(option)});
  if (arguments.Has("keep-init")) words.emplace_back("--keep-init");
  if (!arguments.Has("dry")) words.insert(words.end(), {"--gpu", models.front().name});
  words.emplace_back("--");
  words.insert(words.end(), arguments.positionals().begin(), arguments.positionals().end());
  const Arguments parsed = VRAMSCOPE_TRY(Arguments::ParseWithCommand(DryrunHelp(), words));
  Result<DryrunPlan> plan = PlanFrom(parsed, models);
  if (plan.ok() && !plan->table.empty())
    return Error{"--gpu all works only with `vramscope dryrun`; name one GPU model."};
  if (plan.ok()) plan->depth = "light";
  return plan;
}

Status CheckSettings(const Change& change, const std::vector<std::string>& command) {
  if (!change.alloc_conf) return {};
  if (collector::UsesTensorFlow(command)) {
    const auto settings = allocator::bfc::WithSettings({}, *change.alloc_conf);
    if (!settings.ok()) return Error{fmt::format("--alloc-conf: {}", settings.error().sentence)};
    return {};
  }
  const Result<collector::TorchLocation> torch = collector::FindTorch(command);
  const std::string version = torch.ok() ? torch->version : "";
  const auto settings = allocator::ParseSettings(*change.alloc_conf, allocator::ReleaseOf(version));
  if (!settings.ok()) return Error{fmt::format("--alloc-conf: {}", settings.error().sentence)};
  return {};
}

Result<TryPlan> PlanFromArguments(const Arguments& arguments) {
  TryPlan plan;
  plan.change = VRAMSCOPE_TRY(ChangeFrom(arguments));
  plan.dry = arguments.Has("dry");
  plan.before = arguments.Get("before");
  plan.keep = arguments.Get("keep");
  if (arguments.positionals().empty())
    return Error{"try needs a command: vramscope try --amp bf16 -- python train.py"};
  std::vector<collector::GpuModel> models = {{"here", "", 0, 0, ""}};
  if (plan.dry) {
    const std::string simulated = VRAMSCOPE_TRY(collector::FindSimulatedCuda());
    plan.simulated_folder = simulated;
    models = VRAMSCOPE_TRY(collector::ListGpus(simulated));
    if (!arguments.Has("gpu"))
      return Error{"--dry needs a GPU: --gpu h100-80gb; `vramscope dryrun --gpu list` shows the models."};
  } else {
    for (const char* option : {"gpu", "capacity", "world-size", "rank", "keep-init", "xla"})
      if (arguments.Has(option))
        return Error{fmt::format("--{} applies to the simulated GPU; add --dry.", option)};
  }
  plan.run = VRAMSCOPE_TRY(RunPlanFrom(arguments, models));
  VRAMSCOPE_TRY(CheckSettings(plan.change, plan.run.command));
  if (!plan.keep.empty()) {
    std::error_code failed;
    std::filesystem::create_directories(plan.keep, failed);
    if (failed)
      return Error{
          fmt::format("--keep {}: cannot create this folder: {}.", Printable(plan.keep), failed.message())};
  }
  return plan;
}

Result<int> NothingAllocated() {
  return CannotJudge("The command allocated nothing that can be compared. Does it select the CPU?");
}

Result<int> Try(const Arguments& arguments, const Terminal& terminal) {
  const TryPlan plan = VRAMSCOPE_TRY(PlanFromArguments(arguments));
  TryRunner runner(plan);
  std::string log;
  if (plan.before.empty() && !arguments.Has("quiet"))
    Say("Running the unchanged command first; its output is not shown.");
  const Measured before = VRAMSCOPE_TRY(runner.Before(&log));
  if (before.FailedOtherwise()) {
    fmt::print(stderr, "{}", log.size() > kLogShown ? log.substr(log.size() - kLogShown) : log);
    Say("The command also fails without the change, and not for lack of memory; the end of its output is "
        "above.");
    return ExitAsCommand(before.wait_status);
  }
  if (before.answer.device.empty()) return NothingAllocated();
  // A run that ended for lack of memory has no complete step.
  const Predicted predicted = before.fits ? PredictChange(plan.change, before.trace) : Predicted{};
  std::vector<Outcome> outcomes;
  const bool json = arguments.Has("json");
  const Measured after =
      VRAMSCOPE_TRY(runner.After(json ? CommandOutput::kToStderr : CommandOutput::kAsItIs, &outcomes));
  if (after.FailedOtherwise()) {
    Say("The command fails with the change, but not for lack of memory; the end of its output is above.");
    Print(NotAppliedText(plan, outcomes, predicted), stderr);
    return ExitAsCommand(after.wait_status);
  }
  if (after.answer.device.empty()) return NothingAllocated();
  Print(json ? TryJson(plan, before, after, outcomes, predicted) + "\n"
             : TryText(plan, before, after, outcomes, predicted, terminal));
  if (!AllApplied(outcomes)) return kCannotJudge;
  return after.fits ? kDone : kNo;
}

}  // namespace

int RunTry(std::span<const std::string> words) {
  return RunParsed(TryHelp(), Arguments::ParseWithCommand(TryHelp(), words), Try);
}

}  // namespace vramscope::cli
