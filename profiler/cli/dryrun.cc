// SPDX-License-Identifier: Apache-2.0
// `vramscope dryrun`: the command on a GPU that is not there. Does it fit, what will it take.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "profiler/cli/arguments.h"
#include "profiler/cli/command_output.h"
#include "profiler/cli/dryrun_plan.h"
#include "profiler/cli/dryrun_run.h"
#include "profiler/cli/dryrun_screen.h"
#include "profiler/cli/gpu_file.h"
#include "profiler/cli/report_screen.h"
#include "profiler/cli/terminal.h"
#include "profiler/cli/verb.h"

namespace vramscope::cli {
namespace {

int ListModels(const std::vector<collector::GpuModel>& models) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  for (const collector::GpuModel& model : models)
    table.AddRow({model.name, FormatBytes(model.capacity_bytes), model.product});
  Print(table.ToString());
  return kDone;
}

int NotUsed() {
  return Fail(
      "The command did not use the simulated GPU, so there is nothing to judge. Does it choose the CPU?",
      kCannotJudge);
}

int OneRun(const DryrunPlan& plan, DryrunRunner& runner, const Arguments& arguments,
           const Terminal& terminal) {
  const bool json = arguments.Has("json");
  const Result<DryrunResult> result =
      runner.Run(plan.command, plan.device, json ? CommandOutput::kToStderr : CommandOutput::kAsItIs);
  if (!result.ok()) return Fail(result.error().sentence);
  int code = result->used_device ? kDone : NotUsed();
  if (result->used_device) {
    if (json)
      Print(VerdictJson(*result) + "\n");
    else
      Print(VerdictText(*result, terminal) +
            ReportScreen(result->trace, result->answer, OwnersShown::kFew, terminal));
    if (!result->fits) return kNo;  // that it does not fit is the answer, however the command ended
  }
  return result->wait_status != 0 ? ExitAsCommand(result->wait_status) : code;
}

// A run of a series: its output is shown only when it failed otherwise than by lack of memory. Nullopt:
// `code` says how to end.
std::optional<DryrunResult> RunInSeries(DryrunRunner& runner, const std::vector<std::string>& command,
                                        const collector::SimulatedDevice& device, int& code,
                                        uint64_t order = 0) {
  std::string log;
  Result<DryrunResult> result = runner.Run(command, device, CommandOutput::kToFile, &log, order);
  if (!result.ok()) {
    code = Fail(result.error().sentence);
    return std::nullopt;
  }
  if (result->FailedOtherwise()) {
    fmt::print(stderr, "{}", log.size() > kLogShown ? log.substr(log.size() - kLogShown) : log);
    Say(fmt::format("The command failed on {}, otherwise than by lack of memory; its last words are above.",
                    device.gpu.name));
    code = ExitAsCommand(result->wait_status);
    return std::nullopt;
  }
  if (!result->used_device) {
    code = NotUsed();
    return std::nullopt;
  }
  return std::move(*result);
}

// One row a model, by as few runs as say enough: one on the largest of each kind of GPU where what the
// program takes depends on the kind, else one on the largest of all; and one on each that is too near to its
// limit.
class GpuRuns {
 public:
  GpuRuns(const DryrunPlan& plan, DryrunRunner& runner) : plan_(plan), runner_(runner) {}

  // False: `code` says how to end.
  bool Fill(int& code) {
    std::vector<collector::GpuModel> models = plan_.table;
    std::ranges::stable_sort(models, std::greater<>(), &collector::GpuModel::capacity_bytes);
    for (const collector::GpuModel& gpu : models) {
      const DryrunResult* const near = Near(gpu);
      std::optional<GpuRow> row = near != nullptr ? RowFrom(*near, gpu) : std::nullopt;
      if (!row) row = RowOfRun(gpu, code);
      if (!row) return false;
      rows_.push_back(*row);
    }
    std::ranges::reverse(rows_);
    return true;
  }
  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }
  [[nodiscard]] const DryrunResult& first() const { return runs_.front(); }

 private:
  // The run that speaks of this GPU: of the same compute capability, or else of its kind; nullptr when none
  // does.
  const DryrunResult* Near(const collector::GpuModel& gpu) const {
    const bool one_kind = !runs_.empty() && !runs_.front().elsewhere.fused_attention;
    const DryrunResult* of_kind = nullptr;
    for (const DryrunResult& run : runs_) {
      const int capability = run.device.gpu.compute_capability;
      if (capability == gpu.compute_capability) return &run;
      const bool alike = one_kind || AttentionKind(capability) == AttentionKind(gpu.compute_capability);
      if (of_kind == nullptr && alike) of_kind = &run;
    }
    return of_kind;
  }

  static std::optional<GpuRow> RowFrom(const DryrunResult& run, const collector::GpuModel& gpu) {
    if (!run.fits) return GpuRow{gpu, false, false, AnsweredBy::kConclusion, 0};  // nor on a larger one
    return Conclude({run.device.gpu, run.ledger, run.elsewhere, run.history ? &*run.history : nullptr,
                     run.answer.peak.allocated_bytes, run.PeakReserved()},
                    gpu);
  }

  std::optional<GpuRow> RowOfRun(const collector::GpuModel& gpu, int& code) {
    collector::SimulatedDevice device = plan_.device;
    device.gpu = gpu;
    std::optional<DryrunResult> run = RunInSeries(runner_, plan_.command, device, code);
    if (!run) return std::nullopt;
    const GpuRow row{gpu, run->fits, run->Retried(), AnsweredBy::kRun, run->ledger.peak_bytes};
    runs_.push_back(std::move(*run));
    return row;
  }

  const DryrunPlan& plan_;
  DryrunRunner& runner_;
  std::deque<DryrunResult> runs_;  // that were made, the largest GPU first
  std::vector<GpuRow> rows_;       // the smallest first
};

int AllGpus(const DryrunPlan& plan, DryrunRunner& runner, const Arguments& arguments,
            const Terminal& terminal) {
  int code = kDone;
  GpuRuns table(plan, runner);
  if (!table.Fill(code)) return code;
  if (arguments.Has("json"))
    Print(GpuTableJson(table.rows(), table.first()) + "\n");
  else
    Print(GpuTableText(table.rows(), table.first(), terminal));
  return std::ranges::any_of(table.rows(), &GpuRow::fits) ? kDone : kNo;
}

// Halves the range: a larger batch never takes less. The ends come first, for they often answer.
int Batches(const DryrunPlan& plan, DryrunRunner& runner, const Arguments& arguments,
            const Terminal& terminal) {
  std::vector<BatchRow> rows;
  int code = kDone;
  const auto fits = [&](uint64_t batch) -> std::optional<bool> {
    std::optional<DryrunResult> result =
        RunInSeries(runner, WithBatch(plan.command, batch), plan.device, code);
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
  if (!answer) return code;
  std::ranges::sort(rows, {}, &BatchRow::batch);
  if (arguments.Has("json"))
    Print(BatchTableJson(rows) + "\n");
  else
    Print(BatchTableText(rows, terminal));
  return LargestThatFits(rows) != 0 ? kDone : kNo;
}

int Shuffles(const DryrunPlan& plan, DryrunRunner& runner, const Arguments& arguments,
             const Terminal& terminal) {
  std::vector<DryrunResult> runs;
  int code = kDone;
  for (uint64_t order = 0; order < plan.shuffles; ++order) {
    std::optional<DryrunResult> run = RunInSeries(runner, plan.command, plan.device, code, order);
    if (!run) return code;
    runs.push_back(std::move(*run));
  }
  if (arguments.Has("json"))
    Print(ShuffleTableJson(runs) + "\n");
  else
    Print(ShuffleTableText(runs, terminal));
  return std::ranges::all_of(runs, &DryrunResult::fits) ? kDone : kNo;
}

int DryRun(const Arguments& arguments, const Terminal& terminal) {
  const Result<std::string> simulated = collector::FindSimulatedCuda();
  if (!simulated.ok()) return Fail(simulated.error().sentence);
  Result<std::vector<collector::GpuModel>> models = collector::ListGpus(*simulated);
  if (!models.ok()) return Fail(models.error().sentence);
  if (arguments.Has("gpu-file")) {
    const auto described = ReadGpuFile(arguments.Get("gpu-file"), *models);
    if (!described.ok()) return Fail(described.error().sentence);
    models->insert(models->end(), described->begin(), described->end());
  }
  if (arguments.Get("gpu") == "list") return ListModels(*models);
  const Result<DryrunPlan> plan = PlanFrom(arguments, *models);
  if (!plan.ok()) return Fail(plan.error().sentence);
  DryrunRunner runner(*plan, *simulated);
  if (!plan->table.empty()) return AllGpus(*plan, runner, arguments, terminal);
  if (plan->shuffles != 0) return Shuffles(*plan, runner, arguments, terminal);
  if (plan->batches) return Batches(*plan, runner, arguments, terminal);
  return OneRun(*plan, runner, arguments, terminal);
}

}  // namespace

int RunDryrun(std::span<const std::string> words) {
  return RunParsed(DryrunHelp(), Arguments::ParseWithCommand(DryrunHelp(), words), DryRun);
}

}  // namespace vramscope::cli
