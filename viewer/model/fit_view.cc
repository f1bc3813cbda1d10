// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/fit_view.h"

#include <algorithm>
#include <atomic>
#include <nlohmann/json.hpp>
#include <utility>

#include "profiler/plan/rerun_plans.h"
#include "profiler/text/number.h"
#include "profiler/text/size_text.h"
#include "viewer/model/whatif_view.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostPlans = 5;  // that the panel has room for
constexpr double kGiB = 1 << 30;
constexpr double kMostGiB = 1 << 20;

// Offers only kept re-runs, because a search from the viewer runs no program.
class KeptOnly final : public plan::Reruns {
 public:
  KeptOnly(const KeptReruns& reruns, const whatif::Baseline& recorded)
      : reruns_(reruns), recorded_(recorded) {}

  Result<uint64_t> BatchSize() override { return reruns_.batch(); }
  Result<whatif::Prediction> Predict(std::span<const whatif::Asked> changes) override {
    const experiment::Question parts = experiment::SplitQuestion({changes.begin(), changes.end()});
    const experiment::KeptVariant* const kept = reruns_.Find(reruns_.KeyOf(parts.rerun));
    if (kept == nullptr) return Error{reruns_.WhyNot(parts.rerun).sentence};
    const auto loaded = VRAMSCOPE_TRY(reruns_.Get(*kept));
    return experiment::AnswerFrom(*loaded->variant, recorded_, parts);
  }

 private:
  const KeptReruns& reruns_;
  const whatif::Baseline& recorded_;
};

FitAnswer Find(const WhatIfSubject& subject, const KeptReruns* kept, const FitInto& into,
               const std::atomic<bool>& stop) {
  FitAnswer found;
  found.limit = plan::LimitOf(into.bytes, into.gpu, subject.beside);
  const plan::Request request = {found.limit.reserved_limit, plan::UsualLevers(), kMostPlans,
                                 plan::kUsualWork, &stop};
  found.plans = plan::MakePlans(subject.step, subject.baseline, request);
  if (kept != nullptr && !stop) {
    KeptOnly reruns(*kept, subject.baseline);
    plan::AddRerunPlans(subject.step, request, reruns, found.plans);
  }
  for (const plan::Plan& plan : found.plans.plans) {
    found.questions.push_back(QuestionOf(plan.verdict.changes, subject.step));
    const auto rerun = experiment::SplitQuestion(plan.verdict.changes).rerun;
    if (!rerun.empty()) found.questions.back().rerun = kept->KeyOf(rerun);
  }
  return found;
}

}  // namespace

Result<FitInto> ParseFit(const std::string& text, const std::vector<collector::GpuModel>& gpus) {
  if (const auto gib = text::ParseNumber<double>(text); gib && *gib > 0 && *gib < kMostGiB)
    return FitInto{static_cast<uint64_t>(*gib * kGiB), {}};
  if (const Result<uint64_t> size = text::ParseSize("fit", text); size.ok()) return FitInto{*size, {}};
  const auto named = std::ranges::find(gpus, text, &collector::GpuModel::name);
  if (named != gpus.end()) return FitInto{named->capacity_bytes, *named};
  return Error{"Give a size in GiB (24), a size with a unit (800MiB), or a GPU from the list."};
}

uint64_t FitAnswer::shortfall() const {
  return plans.plans.empty() ? plans.floor.needed - std::min(plans.floor.needed, limit.reserved_limit) : 0;
}

void FitView::Start(const WhatIfSubject& subject, std::shared_ptr<const KeptReruns> reruns,
                    const std::function<void()>& wake) {
  Clear();
  const auto& table = gpus();
  const Result<FitInto> asked = ParseFit(into, table.ok() ? *table : std::vector<collector::GpuModel>{});
  if (!asked.ok()) {
    answer_.emplace(asked.error());
    return;
  }
  searching_.Start(wake, [&subject, kept = std::move(reruns), what = *asked](const std::atomic<bool>& stop) {
    return Find(subject, kept.get(), what, stop);
  });
}

void FitView::Clear() {
  searching_.Drop();
  answer_.reset();
}

void FitView::Update() {
  if (auto found = searching_.Take()) answer_.emplace(std::move(*found));
}

const Result<std::vector<collector::GpuModel>>& FitView::gpus() {
  if (!gpus_) gpus_.emplace(plan::GpuTable());
  return *gpus_;
}

std::string FitView::ToJson() const {
  nlohmann::ordered_json json = {{"into", into},
                                 {"busy", busy()},
                                 {"cancelled", cancelled()},
                                 {"why_not", ""},
                                 {"limit_bytes", nullptr},
                                 {"fits_already", false},
                                 {"plans", nlohmann::json::array()},
                                 {"shortfall_bytes", nullptr}};
  if (answer_ && !answer_->ok()) json["why_not"] = answer_->error().sentence;
  if (!answer_ || !answer_->ok()) return json.dump();
  const FitAnswer& found = answer_->value();
  json["limit_bytes"] = found.limit.reserved_limit;
  json["fits_already"] = found.plans.fits_already;
  for (const plan::Plan& plan : found.plans.plans) {
    const whatif::Replayed& after = plan.verdict.prediction.after.allocator;
    json["plans"].push_back({{"changes", plan::TextOf(plan.verdict.changes)},
                             {"allocated_bytes", after.allocated_peak},
                             {"reserved_bytes", after.reserved_peak},
                             {"reserved_at_most_bytes", plan.verdict.needed}});
  }
  json["shortfall_bytes"] = found.shortfall();
  return json.dump();
}

}  // namespace vramscope::viewer
