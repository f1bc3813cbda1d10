// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/whatif_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/experiment/recorded_step.h"

namespace vramscope::viewer {
namespace {

nlohmann::ordered_json UseJson(const whatif::Use& use) {
  return {{"allocated_bytes", use.allocator.allocated_peak}, {"reserved_bytes", use.allocator.reserved_peak}};
}

nlohmann::ordered_json ChoicesJson(const std::vector<RerunChoice>& choices) {
  nlohmann::ordered_json json = nlohmann::json::array();
  for (const RerunChoice& choice : choices) json.push_back({{"title", choice.title}, {"kept", choice.kept}});
  return json;
}

}  // namespace

Result<WhatIfSubject> MakeWhatIfSubject(const Document& document, const DeviceView& device) {
  if (document.snapshot)
    return Error{
        "A snapshot has blocks but not the operators that allocated them. Record a trace of the program with "
        "vramscope record."};
  if (trace::DeviceTypeOf(document.run->devices[device.index].code) == 0)
    return Error{
        "This is host memory, but changes are predicted only for GPU memory. Record on a GPU, or with "
        "vramscope "
        "dryrun."};
  WhatIfSubject subject;
  subject.step = VRAMSCOPE_TRY(experiment::ReadStepWithProgram(*document.analysis, device.index));
  subject.baseline = VRAMSCOPE_TRY(whatif::MakeBaseline(subject.step, *document.analysis));
  VRAMSCOPE_TRY(whatif::ReplayScene(subject.baseline.scene, subject.step, &subject.before));
  subject.beside = plan::BesideOf(*document.run, device.index, subject.step);
  subject.modules = ModulesOf(subject.step);
  subject.reruns = std::make_shared<KeptReruns>(document.run->source, document.path);
  return subject;
}

namespace {

Result<WhatIfAnswer> AnswerOfRecorded(const WhatIfQuestion& question, const WhatIfSubject& subject) {
  WhatIfAnswer answer;
  answer.asked = AskedBy(question, subject.modules.blocks);
  if (!answer.asked.empty()) answer.kind = experiment::AnswerKind::kTransformed;
  answer.prediction =
      VRAMSCOPE_TRY(whatif::Predict(subject.step, subject.baseline, answer.asked, &answer.after));
  return answer;
}

Result<WhatIfAnswer> AnswerOfRerun(const WhatIfQuestion& question, const WhatIfSubject& subject,
                                   const KeptReruns& reruns, const experiment::KeptVariant& kept) {
  const auto loaded = VRAMSCOPE_TRY(reruns.Get(kept));
  WhatIfAnswer answer;
  answer.rerun = loaded;
  answer.rerun_key = question.rerun;
  answer.asked = AskedBy(question, answer.rerun->modules.blocks);
  const experiment::Question parts = experiment::SplitQuestion(answer.asked);
  answer.prediction =
      VRAMSCOPE_TRY(experiment::AnswerFrom(*answer.rerun->variant, subject.baseline, parts, &answer.after));
  answer.kind =
      parts.transformed.empty() ? experiment::AnswerKind::kRerun : experiment::AnswerKind::kTransformed;
  answer.rerun_levers = parts.rerun.size();
  answer.gpu = kept.gpu;
  if (std::string drift = reruns.Drift(subject.baseline, kept.gpu); !drift.empty())
    answer.notes.push_back(std::move(drift));
  return answer;
}

}  // namespace

Result<WhatIfAnswer> AnswerTo(const WhatIfQuestion& question, const WhatIfSubject& subject,
                              std::shared_ptr<const KeptReruns> reruns, const std::string& path) {
  if (question.rerun.empty()) {
    Result<WhatIfAnswer> answer = AnswerOfRecorded(question, subject);
    if (answer.ok()) answer->command = CommandFor(path, answer->asked);
    return answer;
  }
  const experiment::KeptVariant* kept = reruns->Find(question.rerun);
  if (kept == nullptr) {
    if (auto now = KeptReruns::Again(path)) reruns = std::move(now);
    kept = reruns->Find(question.rerun);
  }
  if (kept == nullptr) {
    WhatIfAnswer answer;
    answer.asked = AskedBy(question, subject.modules.blocks);
    answer.not_kept = reruns->WhyNot(experiment::SplitQuestion(answer.asked).rerun);
    answer.reruns = std::move(reruns);
    return answer;
  }
  WhatIfAnswer answer = VRAMSCOPE_TRY(AnswerOfRerun(question, subject, *reruns, *kept));
  answer.command = CommandFor(path, answer.asked, reruns->GpuToName(kept->gpu));
  answer.reruns = std::move(reruns);
  return answer;
}

std::vector<StepColumn> ColumnsOf(const whatif::UseOverStep& use, int64_t whole, size_t columns) {
  std::vector<StepColumn> drawn(columns);
  if (whole <= 0) return drawn;
  const auto& points = use.points;
  size_t next = 0;
  for (size_t i = 0; i < columns; ++i) {
    const auto place = [&](size_t column) {
      return static_cast<double>(whole) * static_cast<double>(column) / static_cast<double>(columns);
    };
    const double end = place(i + 1);
    if (place(i) >= static_cast<double>(use.length)) break;
    StepColumn& column = drawn[i];
    // The state after the previous event holds until the first event within.
    for (size_t at = next == 0 ? 0 : next - 1;
         at < points.size() && (at < next || static_cast<double>(points[at].at.event) < end); ++at) {
      if (column.most == nullptr || points[at].allocated > column.most->allocated) column.most = &points[at];
      column.reserved = std::max(column.reserved, points[at].reserved);
      next = std::max(next, at + 1);
    }
  }
  // The last column of the step also covers the points at its very end.
  for (size_t i = columns; i-- > 0 && next < points.size();) {
    StepColumn& column = drawn[i];
    if (column.most == nullptr) continue;
    for (; next < points.size(); ++next) {
      if (points[next].allocated > column.most->allocated) column.most = &points[next];
      column.reserved = std::max(column.reserved, points[next].reserved);
    }
  }
  return drawn;
}

void WhatIfView::Update(const Document& document, const DeviceView& device,
                        const std::function<void()>& wake) {
  if (device_ != &device) {
    if (device_ != nullptr) Clear();
    device_ = &device;
    path_ = document.path;
    reading_.Start(wake, [&document, &device] { return MakeWhatIfSubject(document, device); });
  }
  if (auto subject = reading_.Take()) subject_.emplace(std::move(*subject));
  if (auto answer = running_.Take()) Take(std::move(*answer));
  fit_.Update();
  if (subject_ && subject_->ok() && !running_.busy() && asked_ != question) Ask(wake);
}

void WhatIfView::Forget() {
  WhatIfQuestion kept = std::move(question);
  std::string into = std::move(fit_.into);
  Clear();
  question = std::move(kept);
  fit_.into = std::move(into);
}

void WhatIfView::Clear() {
  fit_.Clear();
  running_.Drop();
  reading_.Drop();
  *this = {};
}

void WhatIfView::Ask(const std::function<void()>& wake) {
  asked_ = question;
  const WhatIfSubject& subject = subject_->value();
  running_.Start(wake, [&subject, asked = question, reruns = reruns(), path = path_] {
    return AnswerTo(asked, subject, reruns, path);
  });
}

void WhatIfView::Take(Result<WhatIfAnswer> answer) {
  if (answer.ok() && answer->reruns) reruns_ = answer->reruns;
  if (answer.ok() && answer->rerun) {
    rerun_ = answer->rerun;
    rerun_key_ = answer->rerun_key;
  }
  answer_.emplace(std::move(answer));
}

const ModuleChoices& WhatIfView::modules() const {
  return rerun_ && rerun_key_ == question.rerun ? rerun_->modules : subject_->value().modules;
}

std::string WhatIfView::ToJson() const {
  nlohmann::ordered_json json = {{"subject", subject_ && subject_->ok()},
                                 {"why_not", ""},
                                 {"fit", nlohmann::ordered_json::parse(fit_.ToJson())}};
  if (subject_ && !subject_->ok()) json["why_not"] = subject_->error().sentence;
  if (subject_ && subject_->ok()) json["reruns"] = ChoicesJson(reruns()->Choices());
  if (answer_ && !answer_->ok()) json["why_not"] = answer_->error().sentence;
  if (!answer_ || !answer_->ok()) return json.dump();
  if (const auto& not_kept = answer_->value().not_kept)
    json["not_kept"] = {{"sentence", not_kept->sentence}, {"command", not_kept->command}};
  json["kind"] = answer_->value().not_kept ? "none" : experiment::NameOf(answer_->value().kind);
  json["command"] = answer_->value().command;
  json["notes"] = answer_->value().notes;
  const whatif::Prediction& prediction = answer_->value().prediction;
  json["asked"] = nlohmann::json::array();
  for (const whatif::Asked& one : answer_->value().asked)
    json["asked"].push_back(one.lever + "=" + one.value);
  json["before"] = UseJson(prediction.before);
  json["after"] = UseJson(prediction.after);
  json["code"] = nlohmann::json::array();
  for (const whatif::Applied& lever : prediction.levers) json["code"].push_back(lever.outcome.code);
  json["refused"] = nlohmann::json::array();
  for (const whatif::Refused& refused : prediction.refused) json["refused"].push_back(refused.reason);
  return json.dump();
}

}  // namespace vramscope::viewer
