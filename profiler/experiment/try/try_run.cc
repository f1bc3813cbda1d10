// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/try/try_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/collector/launch/installation.h"
#include "profiler/collector/launch/record.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/collector/output/whole_file.h"
#include "profiler/report/build.h"

namespace vramscope::experiment {
namespace {

constexpr char kPlanVariable[] = "VRAMSCOPE_TRY";  // injector/python/vramscope_try

Error NoScratch() { return Error{"Cannot create a temporary folder. Set TMPDIR to a writable folder."}; }

// The figures of a trace alone, without the ledger of a simulated device.
Result<Measured> MeasuredFrom(const std::string& trace) {
  const model::Run run = VRAMSCOPE_TRY(model::LoadFile(trace));
  const classify::Analysis analysis(run);
  report::Answer answer = VRAMSCOPE_TRY(report::BuildAnswer(analysis, {}));
  Measured measured;
  measured.answer = std::move(answer);
  if (const report::Device* device = measured.answer.ChosenDevice()) {
    measured.requested_bytes = device->peak_requested_bytes;
    measured.reserved_bytes = device->peak_reserved_bytes;
    measured.device_used_bytes = device->peak_used_bytes;
  }
  // If the program survives an out-of-memory error, it handles the error.
  measured.fits = measured.answer.out_of_memory.empty();
  return measured;
}

void AddFact(const nlohmann::json& fact, std::vector<Outcome>& outcomes, std::vector<Outcome>& unmatched) {
  if (!fact.is_object()) return;
  const std::string lever = fact.value("lever", "");
  const std::string state = fact.value("state", "");
  for (size_t index = 0; index < outcomes.size(); ++index) {
    if (outcomes[index].lever != lever) continue;
    std::vector<std::string>& texts = state == "applied"   ? outcomes[index].applied
                                      : state == "refused" ? outcomes[index].refused
                                                           : unmatched[index].refused;
    const std::string text = fact.value("text", "");
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(text);
    if (fact.contains("lines")) outcomes[index].lines = fact.value("lines", std::vector<std::string>{});
  }
}

// The peak of a TensorFlow program depends on the order of its operators, which differs between two runs of
// one program. Both runs get one thread for operators and the same order of Python's sets, unless the user
// chose otherwise, so that the difference between them is the change.
void KeepOrder(DryrunPlan& run) {
  for (const auto& [name, value] :
       {std::pair{"TF_NUM_INTEROP_THREADS", "1"}, std::pair{"PYTHONHASHSEED", "0"}})
    if (std::getenv(name) == nullptr) run.environment[name] = value;
}

// Why a part of the change had no effect, if vramscope_try found nothing that it could have changed.
std::string NothingMet(const Change& change, std::string_view lever) {
  if (const char* why = change.WhyBeyond(lever)) return why;
  if (lever == "lora" || lever == "freeze") return "no optimizer was created with a model's parameters";
  if (lever == "attention") return "F.scaled_dot_product_attention was not called";
  if (lever == "cross-entropy") return "F.cross_entropy was not called with the output of a linear layer";
  if (lever == "empty-cache") return "no optimizer took a step";
  if (lever == "amp") return "no module was called, so nothing can run under autocast";
  if (lever == "checkpoint") return "no module was called";
  if (lever == "batch" || lever == "accumulate")
    return "the program makes its batches without a DataLoader of PyTorch";
  if (lever == "optimizer") return "no optimizer was created";
  if (lever == "zero-grad-to-none") return "zero_grad() was not called";
  return "none of PyTorch, Keras and JAX was imported, or Python ignores environment variables (python -I, "
         "-E)";
}

}  // namespace

std::vector<Outcome> ReadOutcomes(const std::string& folder, const Change& change) {
  std::vector<Outcome> outcomes;
  for (const std::string& lever : change.Levers()) outcomes.push_back({lever, {}, {}});
  std::vector<Outcome> unmatched = outcomes;
  std::error_code ignored;
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
    if (entry.path().extension() == ".try") files.push_back(entry.path().string());
  std::ranges::sort(files);
  for (const std::string& file : files) {
    const auto facts = nlohmann::json::parse(collector::ReadWhole(file), nullptr, false);
    if (!facts.is_array()) continue;
    for (const auto& fact : facts) AddFact(fact, outcomes, unmatched);
  }
  for (size_t index = 0; index < outcomes.size(); ++index) {
    Outcome& outcome = outcomes[index];
    if (!outcome.applied.empty() || !outcome.refused.empty()) continue;
    outcome.refused = unmatched[index].refused;
    if (outcome.refused.empty()) outcome.refused.push_back(NothingMet(change, outcome.lever));
  }
  return outcomes;
}

Result<Measured> TryRunner::Before(std::string* log) {
  if (!plan_.before.empty()) {
    Result<Measured> measured = MeasuredFrom(plan_.before);
    if (measured.ok()) measured->trace = plan_.before;
    return measured;
  }
  DryrunPlan run = plan_.run;
  run.depth.clear();  // the recorder's default: some steps with their operators
  const std::string folder = plan_.keep.empty() ? scratch_.path() : plan_.keep;
  if (folder.empty()) return NoScratch();
  run.output = folder + "/before.vms";
  Result<Measured> measured = Run(run, CommandOutput::kToFile, log);
  if (measured.ok()) measured->trace = run.output;
  return measured;
}

Result<Measured> TryRunner::After(CommandOutput output, std::vector<Outcome>* outcomes) {
  const collector::ScratchFolder notes;
  if (notes.path().empty()) return NoScratch();
  DryrunPlan run = plan_.run;
  run.environment[kPlanVariable] = PlanFor(plan_.change, notes.path());
  run.tried = plan_.change.Text();
  if (!plan_.keep.empty()) run.output = plan_.keep + "/after.vms";
  if (plan_.change.alloc_conf) {
    // The name that a release reads; if it reads both, the newer one takes precedence.
    run.environment["PYTORCH_CUDA_ALLOC_CONF"] = *plan_.change.alloc_conf;
    run.environment["PYTORCH_ALLOC_CONF"] = *plan_.change.alloc_conf;
  }
  Result<Measured> measured = Run(run, output, nullptr);
  *outcomes = ReadOutcomes(notes.path(), plan_.change);
  return measured;
}

Result<Measured> TryRunner::Run(const DryrunPlan& run, CommandOutput output, std::string* log) {
  DryrunPlan ordered = run;
  if (plan_.dry && collector::UsesTensorFlow(run.command)) KeepOrder(ordered);
  return plan_.dry ? RunSimulated(ordered, output, log) : RunHere(ordered, output, log);
}

Result<Measured> TryRunner::RunSimulated(const DryrunPlan& plan, CommandOutput output, std::string* log) {
  DryrunRunner runner(plan, plan_.simulated_folder);
  Result<DryrunResult> result = runner.Run(plan.command, plan.device, output, log, {0, assumed_, true});
  if (result.ok() && result->MayNeedIntegers()) {
    assumed_ = FullMasks(plan);
    result = runner.Run(plan.command, plan.device, output, log, {0, assumed_, true});
  }
  if (!result.ok()) return result.error();
  Measured measured;
  measured.wait_status = result->wait_status;
  if (!result->used_device) return measured;
  if (const report::Device* device = result->answer.ChosenDevice()) {
    measured.requested_bytes = device->peak_requested_bytes;
    measured.reserved_bytes = device->peak_reserved_bytes;
  }
  measured.device_used_bytes = result->ledger.peak_bytes;
  measured.answer = std::move(result->answer);
  measured.fits = result->fits;
  measured.shortfall_bytes = result->shortfall_bytes;
  measured.stopped_after = result->stopped_after;
  return measured;
}

Result<Measured> TryRunner::RunHere(const DryrunPlan& plan, CommandOutput output, std::string* log) const {
  const collector::ScratchFolder scratch;
  if (scratch.path().empty()) return NoScratch();
  VRAMSCOPE_TRY(collector::CheckCommand(plan.command));
  const collector::Installation installation = VRAMSCOPE_TRY(collector::FindInstallation());
  collector::RecordOptions options;
  options.command = plan.command;
  options.output = plan.output.empty() ? scratch.path() + "/run.vms" : plan.output;
  options.depth = plan.depth;
  options.version = VRAMSCOPE_VERSION;
  options.installation = installation;
  options.environment = plan.environment;
  if (!plan.tried.empty()) options.metadata["try.change"] = plan.tried;
  options.environment["VRAMSCOPE_DRYRUN"] =
      fmt::format("device=real;steps={};notes={}", plan.steps, scratch.path());
  options.environment["PYTHONPATH"] =
      (std::filesystem::path(installation.python_shim).parent_path() / "dryrun").string();
  const std::string file = scratch.path() + "/output.txt";
  const collector::RecordOutcome outcome = VRAMSCOPE_TRY([&] {
    const Redirected redirected(output, file);
    return collector::Record(options);
  }());
  if (log != nullptr) *log = collector::ReadWhole(file);
  Measured measured = VRAMSCOPE_TRY(MeasuredFrom(outcome.path));
  measured.wait_status = outcome.wait_status;
  DryrunResult stop;
  ReadStop(scratch.path(), stop);
  measured.stopped_after = stop.stopped_after;
  return measured;
}

}  // namespace vramscope::experiment
