// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/answerer.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "profiler/collector/output/seal.h"
#include "profiler/experiment/try/try_change.h"
#include "profiler/experiment/unanswered.h"
#include "profiler/experiment/variants.h"
#include "profiler/text/harmless.h"

namespace vramscope::experiment {

namespace {

// With --by rerun: all changes that a re-run can make.
Question SplitAll(const std::vector<whatif::Asked>& asked) {
  Question parts;
  for (const whatif::Asked& one : asked) {
    Change change;
    const bool can = Ask(one.lever, one.value, change).ok() && change.WhyBeyond(one.lever) == nullptr;
    (can || AnsweredByRerun(one) ? parts.rerun : parts.transformed).push_back(one);
  }
  return parts;
}

std::string OrdinaryError(std::string sentence) {
  if (!sentence.empty() && sentence.back() == '.') sentence.pop_back();
  return sentence;
}

}  // namespace

WhatifAnswerer::WhatifAnswerer(const RecordedStep& recorded, std::string path, AnswerOptions options)
    : recorded_(recorded),
      path_(std::move(path)),
      options_(std::move(options)),
      predictor_(recorded.step, recorded.baseline, whatif::Predictor::kAnyRun),
      program_(ProgramOf(recorded.run.source->programs())) {}

Result<WhatifCase> WhatifAnswerer::Answer(const WhatifQuestion& question) {
  if (options_.by == WhoAnswers::kTransform) return Transform(question);
  const Question parts = PartsOf(question);
  if (parts.rerun.empty() && options_.by == WhoAnswers::kAuto) return Transform(question);
  return Rerun(question, parts);
}

Result<WhatifCase> WhatifAnswerer::Transform(const WhatifQuestion& question) {
  whatif::Prediction prediction = VRAMSCOPE_TRY(predictor_.Predict(question.asked));
  WhatifCase answer;
  answer.title = question.title;
  answer.prediction = std::move(prediction);
  answer.kind = question.asked.empty() ? AnswerKind::kRecorded : AnswerKind::kTransformed;
  return answer;
}

Result<WhatifCase> WhatifAnswerer::Rerun(const WhatifQuestion& question, const Question& parts) {
  const Variant* const variant = VRAMSCOPE_TRY(Get(parts.rerun));
  whatif::Prediction prediction = VRAMSCOPE_TRY(AnswerFrom(*variant->step, recorded_.baseline, parts));
  WhatifCase answer;
  answer.title = question.title;
  answer.prediction = std::move(prediction);
  answer.kind = parts.transformed.empty() ? AnswerKind::kRerun : AnswerKind::kTransformed;
  answer.rerun_levers = parts.rerun.size();
  answer.was_kept = variant->was_kept;
  answer.gpu = (*setting_)->gpu.name;
  for (size_t i = 0; i < parts.rerun.size(); ++i) {
    if (std::optional<whatif::Applied> known = AsTransformed(parts.rerun[i]))
      answer.prediction.levers[i] = std::move(*known);
  }
  if (!parts.rerun.empty()) {
    const Drift drift = MeasureDrift();
    if (drift.too_far)
      return Error{fmt::format("{} is not known: {}. {}", OptionsText(parts.rerun), drift.sentence,
                               TryLine(question.asked))};
    if (!drift.sentence.empty()) answer.notes.push_back(drift.sentence);
  }
  return answer;
}

std::optional<whatif::Applied> WhatifAnswerer::AsTransformed(const whatif::Asked& asked) {
  if (AnsweredByRerun(asked)) return std::nullopt;
  Result<whatif::Prediction> prediction = predictor_.Predict({asked});
  if (!prediction.ok() || prediction->levers.size() != 1) return std::nullopt;
  return std::move(prediction->levers.front());
}

Question WhatifAnswerer::PartsOf(const WhatifQuestion& question) const {
  return options_.by == WhoAnswers::kRerun || options_.everything ? SplitAll(question.asked)
                                                                  : SplitQuestion(question.asked);
}

void WhatifAnswerer::Prepare(std::span<const WhatifQuestion> questions) {
  if (options_.by == WhoAnswers::kTransform) return;
  std::vector<Changes> wanted;
  for (const WhatifQuestion& question : questions)
    if (Question parts = PartsOf(question); !parts.rerun.empty()) wanted.push_back(std::move(parts.rerun));
  MakeReady(wanted);
}

Result<std::string> WhatifAnswerer::KeyOf(const Changes& changes) {
  if (!setting_) setting_ = SettingOf(recorded_.run, options_.gpu);
  if (!setting_->ok()) return setting_->error();
  const RerunSetting& setting = **setting_;
  return VariantKey(changes, {setting.gpu.name, setting.alloc_conf, 1});
}

bool WhatifAnswerer::IsReady(const Changes& changes, const std::string& key) {
  if (variants_.contains(key)) return true;
  trace::Bytes bytes = FindVariant(*recorded_.run.source, path_, key);
  if (!bytes.empty()) {
    if (Result<Variant> loaded = Load(std::move(bytes)); loaded.ok()) {
      loaded->was_kept = true;
      variants_.emplace(key, std::move(loaded));
      return true;
    }
  }
  std::string why = WhyNotRun(changes);
  if (why.empty()) return false;
  variants_.emplace(key, Error{std::move(why)});
  return true;
}

void WhatifAnswerer::MakeReady(std::span<const Changes> wanted) {
  std::vector<Changes> missing;
  std::set<std::string> keys;
  const auto want = [&](const Changes& changes) {
    const Result<std::string> key = KeyOf(changes);
    if (key.ok() && !IsReady(changes, *key) && keys.insert(*key).second) missing.push_back(changes);
  };
  for (const Changes& changes : wanted) want(changes);
  if (missing.empty()) return;
  want({});  // the re-run that the recorded step is compared with
  RerunSetting setting = **setting_;
  setting.limit = options_.limit;
  setting.say = options_.say;
  SayWhatRuns(missing);
  std::vector<Result<trace::Bytes>> made = RunPrograms(program_->text, missing, setting);
  for (size_t i = 0; i < missing.size(); ++i)
    variants_.emplace(KeyOf(missing[i]).value(), Adopt(missing[i], std::move(made[i])));
}

void WhatifAnswerer::SayWhatRuns(std::span<const Changes> missing) const {
  if (options_.quiet || !options_.say) return;
  std::string with;
  for (const Changes& changes : missing)
    if (!changes.empty()) with += (with.empty() ? " with " : "; with ") + text::OneLine(OptionsText(changes));
  options_.say(
      fmt::format("Running the recorded program again{}, on the simulated {}.", with, (*setting_)->gpu.name));
}

Result<WhatifAnswerer::Variant> WhatifAnswerer::Adopt(const Changes& changes, Result<trace::Bytes> made) {
  if (!made.ok())
    return Error{fmt::format("{} is not known: {}. {}",
                             changes.empty() ? "The unchanged program" : OptionsText(changes),
                             OrdinaryError(made.error().sentence), TryLine(changes))};
  const Result<std::string> kept = KeepVariant(*recorded_.run.source, path_, KeyOf(changes).value(), *made);
  if (!kept.ok() && !options_.quiet && options_.say)
    options_.say("The re-run could not be kept in the trace: " + kept.error().sentence);
  Result<Variant> loaded = Load(std::move(made).value());
  if (!loaded.ok()) return Error{fmt::format("the re-run has no usable step: {}", loaded.error().sentence)};
  return loaded;
}

Result<const WhatifAnswerer::Variant*> WhatifAnswerer::Get(const Changes& changes) {
  const std::string key = VRAMSCOPE_TRY(KeyOf(changes));
  MakeReady({&changes, 1});
  const Result<Variant>& found = variants_.at(key);
  if (!found.ok()) return found.error();
  return &*found;
}

Result<WhatifAnswerer::Variant> WhatifAnswerer::Load(trace::Bytes bytes) const {
  auto step = VRAMSCOPE_TRY(ReadVariantStep(std::move(bytes)));
  if (program_) step->step.own_switch = program_->head.checkpointed;
  return Variant{std::move(step), false};
}

std::string WhatifAnswerer::WhyNotRun(const Changes& changes) const {
  if (std::string why = WhyNoProgram(program_, changes); !why.empty()) return why + " " + TryLine(changes);
  if (options_.by != WhoAnswers::kRerun && !collector::IsSealedHere(program_->text, program_->seal))
    return "Another user recorded this trace, and a re-run executes its program. Add --by rerun if you trust "
           "that user.";
  return "";
}

std::string WhatifAnswerer::TryLine(const Changes& changes) const {
  const std::string gpu = setting_ && setting_->ok() ? (*setting_)->gpu.name : "";
  return "Apply the change to the program itself: " +
         TryCommand(recorded_.run.source->metadata(), gpu, changes);
}

Drift WhatifAnswerer::MeasureDrift() {
  if (drift_) return *drift_;
  const Result<const Variant*> unchanged = Get({});
  if (unchanged.ok())
    drift_ = DriftOf(recorded_.baseline, *(*unchanged)->step);
  else
    drift_ = Drift{"the unchanged program could not be re-run for comparison: " +
                   OrdinaryError(unchanged.error().sentence)};
  return *drift_;
}

}  // namespace vramscope::experiment
