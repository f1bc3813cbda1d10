// SPDX-License-Identifier: Apache-2.0
// `vramscope dryrun`: runs the command on a simulated GPU. Does it fit, and how much memory does it need?
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/record/dryrun_options.h"
#include "profiler/cli/record/dryrun_ranks.h"
#include "profiler/cli/record/dryrun_screen.h"
#include "profiler/cli/record/dryrun_tables.h"
#include "profiler/cli/record/gpu_file.h"
#include "profiler/cli/record/recording_verb.h"
#include "profiler/cli/record/usual_variants.h"
#include "profiler/cli/report/report_screen.h"
#include "profiler/experiment/dryrun/gpu_runs.h"
#include "profiler/experiment/dryrun/several_runs.h"

namespace vramscope::cli {

using experiment::CommandOutput;
using experiment::DryrunRunner;
using experiment::VariantRuns;
using experiment::WithBatch;

namespace {

int ListModels(const std::vector<collector::GpuModel>& models) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
  for (const collector::GpuModel& model : models)
    table.AddRow({model.name, FormatBytes(model.capacity_bytes), model.product, model.memory_source});
  Print(table.ToString());
  return kDone;
}

// The exit code of a single run: the command's own if it failed for another reason than lack of memory.
int ExitOf(const DryrunResult& result) {
  if (const std::optional<bool> verdict = result.Verdict()) return *verdict ? kDone : kNo;
  return result.wait_status != 0 ? ExitAsCommand(result.wait_status) : kCannotJudge;
}

void SayNotUsed(const DryrunResult& result) {
  Say(result.wait_status != 0
          ? fmt::format("Nothing to judge: {}, before it used the simulated GPU.", result.WhyNotJudged())
          : "Nothing to judge: the command did not use the simulated GPU. Does it select the CPU?");
}

void MakeVariants(const DryrunPlan& plan, const std::string& trace) {
  if (plan.variants == VariantRuns::kNone) return;
  UsePythonOf(plan.command);
  if (plan.variants == VariantRuns::kNow)
    MakeUsualVariantsNow(trace);
  else
    MakeUsualVariantsBehind(trace);
}

Result<int> OneRun(const DryrunPlan& plan, DryrunRunner& runner, const Arguments& arguments,
                   const Terminal& terminal) {
  const bool json = arguments.Has("json");
  DryrunResult result = VRAMSCOPE_TRY(
      experiment::RunWithBounds(plan, runner, json ? CommandOutput::kToStderr : CommandOutput::kAsItIs));
  if (!result.used_device) SayNotUsed(result);
  if (json)
    Print(VerdictJson(result) + "\n");
  else if (result.used_device)
    Print(VerdictText(result, terminal) +
          ReportScreen(result.trace, result.answer, OwnersShown::kFew, terminal));
  if (result.used_device) MakeVariants(plan, result.trace);
  return ExitOf(result);
}

// The runs of a series: their output is shown only if one failed for another reason than lack of memory.
class JudgedRuns {
 public:
  JudgedRuns(const DryrunPlan& plan, DryrunRunner& runner, bool json) : series_(plan, runner), json_(json) {}

  // Nullopt: the run could not be judged, and code() is the exit code. It is never the command's own exit
  // code, because only a verdict was requested.
  std::optional<DryrunResult> Run(const std::vector<std::string>& command,
                                  const collector::SimulatedDevice& device, uint64_t order = 0) {
    std::string log;
    Result<DryrunResult> result = series_.Run(command, device, order, log);
    if (!result.ok()) {
      code_ = Fail(result.error());
      return std::nullopt;
    }
    if (result->Verdict()) return std::move(*result);
    code_ = kCannotJudge;
    if (json_) Print(VerdictJson(*result) + "\n");
    if (!result->used_device) SayNotUsed(*result);
    if (!result->FailedOtherwise()) return std::nullopt;
    fmt::print(stderr, "{}", log.size() > kLogShown ? log.substr(log.size() - kLogShown) : log);
    if (result->used_device)
      Say(fmt::format("The command could not be judged: {} on {}; the end of its output is above.",
                      result->WhyNotJudged(), device.gpu.name));
    return std::nullopt;
  }
  [[nodiscard]] int code() const { return code_; }

 private:
  experiment::Series series_;
  bool json_;
  int code_ = kDone;
};

int AllGpus(const DryrunPlan& plan, JudgedRuns series, const Arguments& arguments, const Terminal& terminal) {
  experiment::GpuRuns table(
      plan, [&](const collector::SimulatedDevice& device) { return series.Run(plan.command, device); });
  if (!table.Fill()) return series.code();
  if (arguments.Has("json"))
    Print(GpuTableJson(table.rows(), table.first()) + "\n");
  else
    Print(GpuTableText(table.rows(), table.first(), terminal));
  return std::ranges::any_of(table.rows(), &GpuRow::fits) ? kDone : kNo;
}

// Bisects the range: a larger batch never takes less memory. Tries the ends first: they often answer.
int Batches(const DryrunPlan& plan, JudgedRuns series, const Arguments& arguments, const Terminal& terminal) {
  std::vector<BatchRow> rows;
  const auto fits = [&](uint64_t batch) -> std::optional<bool> {
    std::optional<DryrunResult> result = series.Run(WithBatch(plan.command, batch), plan.device);
    if (!result) return std::nullopt;
    rows.push_back({batch, std::move(*result)});
    return rows.back().result.fits;
  };
  uint64_t good = plan.batches->first;
  uint64_t bad = plan.batches->last + 1;
  std::optional<bool> answer = fits(good);
  if (answer && *answer && good + 1 < bad) {
    answer = fits(plan.batches->last);
    if (answer && *answer) good = plan.batches->last;
    if (answer && !*answer) bad = plan.batches->last;
    while (answer && good + 1 < bad) {
      const uint64_t middle = good + (bad - good) / 2;
      answer = fits(middle);
      if (answer) (*answer ? good : bad) = middle;
    }
  }
  if (!answer) return series.code();
  std::ranges::sort(rows, {}, &BatchRow::batch);
  if (arguments.Has("json"))
    Print(BatchTableJson(rows) + "\n");
  else
    Print(BatchTableText(rows, terminal));
  return LargestThatFits(rows) != 0 ? kDone : kNo;
}

int Shuffles(const DryrunPlan& plan, JudgedRuns series, const Arguments& arguments,
             const Terminal& terminal) {
  std::vector<DryrunResult> runs;
  for (uint64_t order = 0; order < plan.shuffles; ++order) {
    std::optional<DryrunResult> run = series.Run(plan.command, plan.device, order);
    if (!run) return series.code();
    runs.push_back(std::move(*run));
  }
  if (arguments.Has("json"))
    Print(ShuffleTableJson(runs) + "\n");
  else
    Print(ShuffleTableText(runs, terminal));
  return std::ranges::all_of(runs, &DryrunResult::fits) ? kDone : kNo;
}

Result<int> DryRun(const Arguments& arguments, const Terminal& terminal) {
  const std::string simulated = VRAMSCOPE_TRY(collector::FindSimulatedCuda());
  std::vector<collector::GpuModel> models = VRAMSCOPE_TRY(collector::ListGpus(simulated));
  if (arguments.Has("gpu-file")) {
    const auto described = VRAMSCOPE_TRY(ReadGpuFile(arguments.Get("gpu-file"), models));
    models.insert(models.end(), described.begin(), described.end());
  }
  if (arguments.Get("gpu") == "list") return ListModels(models);
  const DryrunPlan plan = VRAMSCOPE_TRY(PlanFrom(arguments, models));
  if (arguments.Has("ranks")) return DryrunRanks(plan, simulated, arguments, terminal);
  DryrunRunner runner(plan, simulated);
  const JudgedRuns series(plan, runner, arguments.Has("json"));
  if (!plan.table.empty()) return AllGpus(plan, series, arguments, terminal);
  if (plan.shuffles != 0) return Shuffles(plan, series, arguments, terminal);
  if (plan.batches) return Batches(plan, series, arguments, terminal);
  return OneRun(plan, runner, arguments, terminal);
}

}  // namespace

int RunDryrun(std::span<const std::string> words) {
  return RunParsed(DryrunHelp(), Arguments::ParseWithCommand(DryrunHelp(), words), DryRun);
}

}  // namespace vramscope::cli
