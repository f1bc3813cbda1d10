// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/savings.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/whatif/predict.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;

struct Question {
  const char* title;
  std::vector<whatif::Asked> asked;
};

const std::vector<Question>& Questions() {
  static const std::vector<Question> questions = {
      {"batch=0.5x", {{"batch", "0.5x"}}},
      {"accumulate=2", {{"accumulate", "2"}}},
      {"checkpoint=every:2", {{"checkpoint", "every:2"}}},
      {"checkpoint=all", {{"checkpoint", "all"}}},
      {"batch=0.5x checkpoint=all", {{"batch", "0.5x"}, {"checkpoint", "all"}}},
      {"optimizer=sgd", {{"optimizer", "sgd"}}},
      {"optimizer=momentum", {{"optimizer", "momentum"}}},
      {"alloc-conf=expandable_segments:True", {{"alloc-conf", "expandable_segments:True"}}},
      {"empty-cache=after-step", {{"empty-cache", "after-step"}}},
  };
  return questions;
}

Json CaseJson(const char* title, const whatif::Prediction& prediction) {
  Json code = Json::array();
  Json notes = Json::array();
  double extra_ns = 0;
  bool timed = false;
  for (const whatif::Applied& applied : prediction.levers) {
    if (!applied.outcome.code.empty()) code.push_back(applied.outcome.code);
    for (const std::string& note : applied.outcome.notes) notes.push_back(note);
    extra_ns += applied.outcome.extra_ns;
    timed |= !applied.outcome.time_basis.empty();
  }
  return {{"title", title},
          {"allocated_bytes", prediction.after.allocator.allocated_peak},
          {"reserved_bytes", prediction.after.allocator.reserved_peak},
          {"phase", prediction.after.peak.phase},
          {"extra_ns", timed ? Json(static_cast<uint64_t>(extra_ns)) : Json(nullptr)},
          {"code", std::move(code)},
          {"notes", std::move(notes)}};
}

}  // namespace

Json Savings(const classify::Analysis& analysis, model::DeviceIndex device) {
  if (trace::DeviceTypeOf(analysis.run().devices[device].code) == 0) return nullptr;
  const Result<whatif::Step> step = whatif::ReadStep(analysis, device);
  if (!step.ok()) return nullptr;
  const Result<whatif::Baseline> baseline = whatif::MakeBaseline(*step, analysis);
  if (!baseline.ok()) return nullptr;
  const whatif::Replayed& before = baseline->use.allocator;
  std::vector<Json> cases;
  for (const Question& question : Questions()) {
    const Result<whatif::Prediction> prediction = whatif::Predict(*step, *baseline, question.asked);
    if (!prediction.ok() || !prediction->refused.empty()) continue;
    const whatif::Replayed& after = prediction->after.allocator;
    if (after.allocated_peak == before.allocated_peak && after.reserved_peak == before.reserved_peak)
      continue;
    cases.push_back(CaseJson(question.title, *prediction));
  }
  if (cases.empty()) return nullptr;
  std::stable_sort(cases.begin(), cases.end(), [](const Json& a, const Json& b) {
    return a["reserved_bytes"].get<uint64_t>() < b["reserved_bytes"].get<uint64_t>();
  });
  return {{"step", step->number},
          {"before", {{"allocated_bytes", before.allocated_peak}, {"reserved_bytes", before.reserved_peak}}},
          {"cases", std::move(cases)}};
}

}  // namespace vramscope::html
