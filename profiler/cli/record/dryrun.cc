// SPDX-License-Identifier: Apache-2.0
// `vramscope dryrun`: runs the command on a simulated GPU. Does it fit, and how much memory does it need?
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/record/dryrun_options.h"
#include "profiler/cli/record/dryrun_screen.h"
#include "profiler/cli/record/dryrun_tables.h"
#include "profiler/cli/record/gpu_file.h"
#include "profiler/cli/record/usual_variants.h"
#include "profiler/cli/report/report_screen.h"
#include "profiler/experiment/dryrun/command_output.h"
#include "profiler/experiment/dryrun/dryrun_run.h"

namespace vramscope::cli {

using experiment::AnsweredBy;
using experiment::AssumedValues;
using experiment::AttentionKind;
using experiment::CommandOutput;
using experiment::Conclude;
using experiment::DataRead;
using experiment::DryrunRunner;
using experiment::OtherBound;
using experiment::RunVariant;
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

bool ReadsSizes(const DryrunResult& result) {
  return std::ranges::any_of(result.data_reads, &DataRead::sizes);
}

// The assumption of the first run; nullopt: values that no kernel computes are 0.
std::optional<AssumedValues> FirstAssumption(const DryrunPlan& plan) {
  if (!plan.masks && !plan.balanced_routing) return std::nullopt;
  return AssumedValues{plan.masks.value_or(0), plan.balanced_routing.value_or(true)};
}

// If memory depends on data: runs again with masks that select everything.
void AddUpperBound(const DryrunPlan& plan, DryrunRunner& runner, DryrunResult& result) {
  if (plan.masks || result.Verdict() != true || !ReadsSizes(result)) return;
  Say("Memory depends on data here. The command runs again to find the upper bound.");
  const RunVariant full = {0, FullMasks(plan), false};
  const Result<DryrunResult> other =
      runner.Run(plan.command, plan.device, CommandOutput::kToFile, nullptr, full);
  if (!other.ok()) return;
  result.upper = OtherBound{*full.assumed, other->Verdict(), other->answer.peak.allocated_bytes,
                            other->PeakReserved(), other->ledger.peak_bytes};
}

Result<DryrunResult> RunOnce(const DryrunPlan& plan, DryrunRunner& runner, CommandOutput output) {
  Result<DryrunResult> result =
      runner.Run(plan.command, plan.device, output, nullptr, {0, FirstAssumption(plan), true});
  if (!result.ok() || !result->MayNeedIntegers()) return result;
  Say("The command failed after it read values that no kernel computes here. It runs again with computed "
      "integers.");
  Result<DryrunResult> again =
      runner.Run(plan.command, plan.device, output, nullptr, {0, FullMasks(plan), true});
  return again.ok() && again->FailedOtherwise() ? result : again;
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
  DryrunResult result =
      VRAMSCOPE_TRY(RunOnce(plan, runner, json ? CommandOutput::kToStderr : CommandOutput::kAsItIs));
  AddUpperBound(plan, runner, result);
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
class Series {
 public:
  Series(const DryrunPlan& plan, DryrunRunner& runner, bool json)
      : plan_(plan), runner_(runner), assumed_(FirstAssumption(plan)), json_(json) {}

  // Nullopt: code() is the exit code. Only a verdict was requested, so it is not the command's.
  std::optional<DryrunResult> Run(const std::vector<std::string>& command,
                                  const collector::SimulatedDevice& device, uint64_t order = 0) {
    std::string log;
    Result<DryrunResult> result =
        runner_.Run(command, device, CommandOutput::kToFile, &log, {order, assumed_, true});
    if (result.ok() && result->MayNeedIntegers()) {
      assumed_ = FullMasks(plan_);
      result = runner_.Run(command, device, CommandOutput::kToFile, &log, {order, assumed_, true});
    }
    if (result.ok() && DependsOnMasks(*result)) TakeUpperBound(command, device, order, *result);
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
      Say(fmt::format("Could not be judged: {} on {}; the end of its output is above.",
                      result->WhyNotJudged(), device.gpu.name));
    return std::nullopt;
  }
  [[nodiscard]] int code() const { return code_; }

 private:
  [[nodiscard]] bool DependsOnMasks(const DryrunResult& result) const {
    return !plan_.masks && !result.assumed && result.Verdict() == true && ReadsSizes(result);
  }

  // A statement about many runs must hold for any data. If the command fails with full masks, its lower bound
  // stays.
  void TakeUpperBound(const std::vector<std::string>& command, const collector::SimulatedDevice& device,
                      uint64_t order, DryrunResult& result) {
    Result<DryrunResult> full =
        runner_.Run(command, device, CommandOutput::kToFile, nullptr, {order, FullMasks(plan_), true});
    if (!full.ok() || !full->Verdict()) return;
    assumed_ = FullMasks(plan_);
    result = std::move(*full);
  }

  const DryrunPlan& plan_;
  DryrunRunner& runner_;
  std::optional<AssumedValues> assumed_;
  bool json_;
  int code_ = kDone;
};

// One row per model, with as few runs as possible. If the program's use depends on the kind of GPU, one run
// on the largest of each kind; otherwise one on the largest of all. Models that are too close to their limit
// get their own run.
class GpuRuns {
 public:
  GpuRuns(const DryrunPlan& plan, Series& series) : plan_(plan), series_(series) {}

  // False: the series' code() is the exit code.
  bool Fill() {
    std::vector<collector::GpuModel> models = plan_.table;
    std::ranges::stable_sort(models, std::greater<>(), &collector::GpuModel::capacity_bytes);
    for (const collector::GpuModel& gpu : models) {
      const DryrunResult* const near = Near(gpu);
      std::optional<GpuRow> row = near != nullptr ? RowFrom(*near, gpu) : std::nullopt;
      if (!row) row = RowOfRun(gpu);
      if (!row) return false;
      rows_.push_back(*row);
    }
    std::ranges::reverse(rows_);
    return true;
  }
  [[nodiscard]] const std::vector<GpuRow>& rows() const { return rows_; }
  [[nodiscard]] const DryrunResult& first() const { return runs_.front(); }

 private:
  // The run whose figures apply to this GPU: one with the same compute capability, or of its kind; nullptr if
  // there is none.
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
    if (!run.fits) return GpuRow{gpu, false, false, AnsweredBy::kConclusion, 0};  // not even on a larger GPU
    return Conclude({run.device.gpu, run.ledger, run.elsewhere, run.history ? &*run.history : nullptr,
                     run.answer.peak.allocated_bytes, run.PeakReserved()},
                    gpu);
  }

  std::optional<GpuRow> RowOfRun(const collector::GpuModel& gpu) {
    collector::SimulatedDevice device = plan_.device;
    device.gpu = gpu;
    std::optional<DryrunResult> run = series_.Run(plan_.command, device);
    if (!run) return std::nullopt;
    const GpuRow row{gpu, run->fits, run->Retried(), AnsweredBy::kRun, run->ledger.peak_bytes};
    runs_.push_back(std::move(*run));
    return row;
  }

  const DryrunPlan& plan_;
  Series& series_;
  std::deque<DryrunResult> runs_;  // completed runs, the largest GPU first
  std::vector<GpuRow> rows_;       // smallest first
};

int AllGpus(const DryrunPlan& plan, Series series, const Arguments& arguments, const Terminal& terminal) {
  GpuRuns table(plan, series);
  if (!table.Fill()) return series.code();
  if (arguments.Has("json"))
    Print(GpuTableJson(table.rows(), table.first()) + "\n");
  else
    Print(GpuTableText(table.rows(), table.first(), terminal));
  return std::ranges::any_of(table.rows(), &GpuRow::fits) ? kDone : kNo;
}

// Bisects the range: a larger batch never takes less. The ends come first, because they often answer.
int Batches(const DryrunPlan& plan, Series series, const Arguments& arguments, const Terminal& terminal) {
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

int Shuffles(const DryrunPlan& plan, Series series, const Arguments& arguments, const Terminal& terminal) {
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
  DryrunRunner runner(plan, simulated);
  const Series series(plan, runner, arguments.Has("json"));
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
