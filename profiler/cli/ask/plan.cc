// SPDX-License-Identifier: Apache-2.0
// `vramscope plan`: the cheapest changes with which a recorded program fits.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "profiler/cli/ask/plan_layouts.h"
#include "profiler/cli/ask/plan_reruns.h"
#include "profiler/cli/ask/plan_screen.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/plan/rerun_plans.h"

namespace vramscope::cli {

using experiment::ReadRecordedStep;

const VerbHelp& PlanHelp() {
  static const VerbHelp help = {
      "plan",
      "the cheapest changes that make a recorded program fit",
      "plan [options] RUN --fit SIZE [--verify -- COMMAND...]",
      {{"vramscope plan run.vms --fit 24GiB", "find what to change so that it fits in 24 GiB"},
       {"vramscope plan run.vms --fit rtx-4090 --forbid optimizer --verify -- python train.py",
        "find changes for that GPU, and measure them on a simulated RTX 4090"},
       {"vramscope plan --fit h100-80gb --world-size 64 --vary tp=--tp --vary pp=--pp -- python train.py",
        "find the layouts of a job that fit, by dry runs with different values of these flags"}},
      {{"fit", '\0', "SIZE|GPU",
        "Memory of the device: 24GiB, or a GPU model from `vramscope dryrun --gpu list`."},
       {"allow", '\0', "CHANGES",
        "Try only these changes, like alloc-conf,checkpoint. `vramscope whatif --list` shows all changes."},
       {"forbid", '\0', "CHANGES", "Try all changes except these."},
       {"top", '\0', "N", "Show this many plans; default 3."},
       {"largest-batch", '\0', nullptr, "Find the largest batch that fits instead of showing plans."},
       {"smallest-gpu", '\0', nullptr, "Use instead of --fit: find the smallest GPU on which the run fits."},
       {"verify", '\0', nullptr,
        "Run the command on a simulated GPU with each plan's changes. A plan then counts as\n"
        "fitting if the measured memory fits."},
       {"run-recorded", '\0', nullptr,
        "With --verify: show the command from the trace, then run it. Use this only for\n"
        "traces from a person whom you trust to run commands here."},
       {"by", '\0', "auto|transform",
        "auto: re-run each plan before it is shown, if the trace has a program.\n"
        "transform: run nothing; the search takes about 1 s instead of 10 s."},
       {"vary", '\0', "NAME=FLAG[:VALUES]",
        "Instead of RUN: dry-run the command once for each value of its flag FLAG, in parallel.\n"
        "Without values: 1, 2, 4, ..., in combinations whose product divides --world-size."},
       {"world-size", '\0', "W", "With --vary: run each distinct rank of a job with W ranks."},
       {"gpu", '\0', "MODEL", "The simulated GPU. Default: one with the memory of the recorded GPU."},
       {"json", '\0', nullptr, "Print one JSON document instead (docs/json.md)."}},
      VerbSubject::kRunAndCommand};
  return help;
}

namespace {

PlanSubject SubjectOf(const PlanRequest& request, const RecordedStep& recorded) {
  const std::optional<plan::Beside> beside = plan::BesideOf(recorded.run, recorded.device, recorded.step);
  const uint64_t fit = request.fit_bytes == 0 && beside ? beside->capacity_bytes : request.fit_bytes;
  return {plan::LimitOf(fit, request.fit_gpu, beside), request.path, &recorded};
}

plan::Request Question(const PlanRequest& request, uint64_t reserved_limit) {
  return {reserved_limit, request.levers, request.top, plan::kUsualWork};
}

// The model to verify on.
Result<collector::GpuModel> GpuOf(const PlanRequest& request, const PlanSubject& subject) {
  if (!request.gpu.empty()) return plan::FindGpu(request.gpu);
  const auto alike = std::ranges::find_if(request.gpus, [&](const collector::GpuModel& gpu) {
    return subject.beside && gpu.capacity_bytes == subject.beside->capacity_bytes;
  });
  if (alike != request.gpus.end()) return *alike;
  return *std::ranges::max_element(request.gpus, {}, &collector::GpuModel::capacity_bytes);
}

Status VerifyPlans(const PlanRequest& request, const PlanSubject& subject, PlanAnswer& answer) {
  const collector::GpuModel gpu = VRAMSCOPE_TRY(GpuOf(request, subject));
  std::vector<std::string> command = request.command;
  if (command.empty()) {
    const RecordedStep& recorded = *subject.recorded;
    const model::Device& device = recorded.run.devices[recorded.device];
    command = VRAMSCOPE_TRY(
        RecordedCommand(recorded.run.processes[device.process].info.command_line, request.run_recorded));
    Say(fmt::format("Running the command from the trace: {}", fmt::join(command, " ")));
  }
  answer.verified_on = gpu.name;
  const Measure measure = [&](std::span<const plan::Changes> plans) {
    std::vector<Verified> measured;
    for (const plan::Changes& changes : plans) measured.push_back(Verify(changes, command, gpu));
    return measured;
  };
  plan::Request question = Question(request, subject.reserved_limit);
  question.need.bound = false;
  VerifiedPlans found =
      FindVerifiedPlans(subject.recorded->step, subject.recorded->baseline, question, measure);
  answer.plans = std::move(found.plans);
  answer.verified = std::move(found.verified);
  answer.left_out = std::move(found.left_out);
  return {};
}

// Replaces predictions with the figures of the re-runs.
void TellReruns(PlanAnswer& answer) {
  for (plan::Plan& plan : answer.plans.plans) {
    const Verified* verified = answer.VerifiedOf(plan);
    if (verified == nullptr || !verified->why_not.empty()) continue;
    answer.rerun = true;
    whatif::Replayed& told = plan.verdict.prediction.after.allocator;
    told.allocated_peak = verified->allocated_bytes;
    told.reserved_peak = verified->reserved_bytes;
  }
  answer.rerun |= !answer.left_out.empty();
  if (answer.rerun || answer.verified.empty()) return;
  answer.why_not_rerun = answer.verified.begin()->second.why_not;
  answer.verified.clear();
}

// Re-runs each plan with the trace's program before it is printed.
void RerunPlans(const PlanRequest& request, const PlanSubject& subject, ProgramReruns& reruns,
                PlanAnswer& answer) {
  const whatif::Step& step = subject.recorded->step;
  const plan::Request question = Question(request, subject.reserved_limit);
  VerifiedPlans found =
      FindVerifiedPlans(step, subject.recorded->baseline, question,
                        [&](std::span<const plan::Changes> plans) { return reruns.Verify(plans); });
  answer.plans = std::move(found.plans);
  answer.left_out = std::move(found.left_out);
  answer.verified = std::move(found.verified);
  TellReruns(answer);
  if (!answer.why_not_rerun.empty()) return;
  plan::AddRerunPlans(step, question, reruns, answer.plans);
  answer.rerun = true;
  for (const plan::Plan& plan : answer.plans.plans) {
    const whatif::Replayed& use = plan.verdict.prediction.after.allocator;
    answer.verified.try_emplace(plan::TextOf(plan.verdict.changes),
                                Verified{.allocated_bytes = use.allocated_peak,
                                         .reserved_bytes = use.reserved_peak,
                                         .at_most_bytes = plan.verdict.needed});
  }
}

Result<int> Plans(const PlanRequest& request, const PlanSubject& subject, const Terminal& terminal,
                  bool json) {
  PlanAnswer answer;
  if (request.verify) {
    VRAMSCOPE_TRY(VerifyPlans(request, subject, answer));
  } else {
    ProgramReruns reruns(*subject.recorded, request.path,
                         {.everything = true, .gpu = request.gpu, .say = Say});
    if (request.rerun && reruns.HasProgram())
      RerunPlans(request, subject, reruns, answer);
    else
      answer.plans = plan::MakePlans(subject.recorded->step, subject.recorded->baseline,
                                     Question(request, subject.reserved_limit));
  }
  Print(json ? PlanJson(subject, answer) : PlanText(subject, answer, terminal));
  return answer.plans.plans.empty() ? kNo : kDone;
}

Result<int> LargestBatch(const PlanRequest& request, const PlanSubject& subject, const Terminal& terminal,
                         bool json) {
  if (subject.fit_bytes == 0)
    return CannotJudge("The trace does not record how much memory its GPU has; add --fit 24GiB.");
  ProgramReruns reruns(*subject.recorded, request.path, {.gpu = request.gpu, .say = Say});
  const auto answer = VRAMSCOPE_TRY(CannotJudge(
      PrefixError(request.path,
                  plan::FindLargestBatches(subject.recorded->step, Question(request, subject.reserved_limit),
                                           reruns.HasProgram() ? &reruns : nullptr))));
  Print(json ? LargestBatchJson(subject, answer) : LargestBatchText(subject, answer, terminal));
  return std::ranges::any_of(answer.rows, [](const plan::LargestBatch& row) { return row.size != 0; }) ? kDone
                                                                                                       : kNo;
}

// Answers for the smallest GPU on which the unchanged program fits, then for smaller and smaller ones, up to
// and including the first one without a plan. Prints the answers and returns the exit code.
int SmallestGpu(const PlanRequest& request, const PlanSubject& subject, const Terminal& terminal, bool json) {
  std::vector<collector::GpuModel> gpus = request.gpus;
  std::ranges::stable_sort(gpus, std::greater<>{}, &collector::GpuModel::capacity_bytes);
  std::vector<GpuAnswer> answers;
  for (const collector::GpuModel& gpu : gpus) {
    const uint64_t beside = subject.beside ? subject.beside->On(gpu) : gpu.context_bytes;
    plan::Request question = Question(request, gpu.capacity_bytes - std::min(gpu.capacity_bytes, beside));
    question.top = 1;
    GpuAnswer answer{gpu, plan::MakePlans(subject.recorded->step, subject.recorded->baseline, question)};
    const bool fits = !answer.plans.plans.empty();
    // Among the GPUs on which the unchanged program fits, only the smallest is listed.
    if (answer.plans.fits_already && !answers.empty() && answers.back().plans.fits_already)
      answers.pop_back();
    answers.push_back(std::move(answer));
    if (!fits) break;
  }
  Print(json ? SmallestGpuJson(subject, answers) : SmallestGpuText(subject, answers, terminal));
  return answers.empty() || answers.front().plans.plans.empty() ? kNo : kDone;
}

Result<int> PlanVerb(const Arguments& arguments, const Terminal& terminal) {
  if (arguments.Has("vary")) return PlanLayouts(arguments, terminal);
  if (arguments.Has("world-size")) return Error{"--world-size needs --vary: --vary tp=--tp"};
  const PlanRequest request = VRAMSCOPE_TRY(PlanRequestFrom(arguments));
  const report::Request device = VRAMSCOPE_TRY(DeviceRequest(arguments));
  const auto recorded =
      VRAMSCOPE_TRY(ReadRecordedStep(request.path, LoadTrace(RunFile(request.path), arguments), device));
  const PlanSubject subject = SubjectOf(request, *recorded);
  const bool json = arguments.Has("json");
  if (request.largest_batch) return LargestBatch(request, subject, terminal, json);
  if (request.smallest_gpu) return SmallestGpu(request, subject, terminal, json);
  return Plans(request, subject, terminal, json);
}

}  // namespace

int RunPlan(std::span<const std::string> words) {
  return RunParsed(PlanHelp(), Arguments::Parse(PlanHelp(), words), PlanVerb);
}

}  // namespace vramscope::cli
