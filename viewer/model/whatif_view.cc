// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/whatif_view.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::viewer {
namespace {

template <typename T>
bool IsReady(const std::future<T>& future) {
  return future.valid() && future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

nlohmann::ordered_json UseJson(const whatif::Use& use) {
  return {{"allocated_bytes", use.allocator.allocated_peak}, {"reserved_bytes", use.allocator.reserved_peak}};
}

}  // namespace

Result<WhatIfSubject> MakeWhatIfSubject(const Document& document, const DeviceView& device) {
  if (document.snapshot)
    return Error{
        "A snapshot says which blocks there were, not which operators made them: record a trace of the "
        "program with vramscope record."};
  if (trace::DeviceTypeOf(document.run->devices[device.index].code) == 0)
    return Error{
        "This is host memory, and changes are predicted for GPUs: record on one, or with vramscope dryrun."};
  Result<whatif::Step> step = whatif::ReadStep(*document.analysis, device.index);
  if (!step.ok()) return step.error();
  WhatIfSubject subject;
  subject.step = std::move(step).value();
  Result<whatif::Baseline> baseline = whatif::MakeBaseline(subject.step, *document.analysis);
  if (!baseline.ok()) return baseline.error();
  subject.baseline = std::move(baseline).value();
  const auto replayed = whatif::ReplayScene(subject.baseline.scene, subject.step, &subject.before);
  if (!replayed.ok()) return replayed.error();
  if (const auto axis = whatif::FollowBatch(subject.step); axis.ok())
    subject.batch = axis->batch;
  else
    subject.batch_reason = axis.error().sentence;
  subject.beside = cli::BesideOf(*document.run, device.index, subject.step);
  subject.modules = whatif::ModuleTree(subject.step);
  subject.blocks = PathsOf(subject.step, "all");
  subject.every_other = PathsOf(subject.step, "every:2");
  return subject;
}

std::vector<StepColumn> ColumnsOf(const whatif::UseOverStep& use, whatif::Position whole, size_t columns) {
  std::vector<StepColumn> drawn(columns);
  if (whole <= 0) return drawn;
  const auto& points = use.points;
  size_t next = 0;
  for (size_t i = 0; i < columns; ++i) {
    const whatif::Position begin = whole * static_cast<double>(i) / static_cast<double>(columns);
    const whatif::Position end = whole * static_cast<double>(i + 1) / static_cast<double>(columns);
    if (begin >= use.length) break;
    StepColumn& column = drawn[i];
    // What the event before left holds until the first one within.
    for (size_t at = next == 0 ? 0 : next - 1; at < points.size() && (at < next || points[at].at < end);
         ++at) {
      if (column.most == nullptr || points[at].allocated > column.most->allocated) column.most = &points[at];
      column.reserved = std::max(column.reserved, points[at].reserved);
      next = std::max(next, at + 1);
    }
  }
  // The last column of the step has what is at its very end.
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
    reading_ = std::async(std::launch::async, [&document, &device, wake] {
      auto made = MakeWhatIfSubject(document, device);
      wake();
      return made;
    });
  }
  if (IsReady(reading_)) subject_.emplace(reading_.get());
  if (IsReady(running_)) answer_.emplace(running_.get());
  fit_.Update();
  if (subject_ && subject_->ok() && !running_.valid() && asked_ != question) Ask(wake);
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
  if (running_.valid()) running_.wait();
  if (reading_.valid()) reading_.wait();
  *this = {};
}

void WhatIfView::Ask(const std::function<void()>& wake) {
  asked_ = question;
  const WhatIfSubject& subject = subject_->value();
  running_ =
      std::async(std::launch::async,
                 [&subject, wake, asked = AskedBy(question, subject.blocks)]() -> Result<WhatIfAnswer> {
                   WhatIfAnswer answer;
                   answer.asked = asked;
                   auto prediction = whatif::Predict(subject.step, subject.baseline, asked, &answer.after);
                   wake();
                   if (!prediction.ok()) return prediction.error();
                   answer.prediction = std::move(prediction).value();
                   return answer;
                 });
}

std::string WhatIfView::ToJson() const {
  nlohmann::ordered_json json = {{"subject", subject_ && subject_->ok()},
                                 {"why_not", ""},
                                 {"fit", nlohmann::ordered_json::parse(fit_.ToJson())}};
  if (subject_ && !subject_->ok()) json["why_not"] = subject_->error().sentence;
  if (!answer_ || !answer_->ok()) return json.dump();
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
