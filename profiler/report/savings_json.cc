// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/savings_json.h"

#include <nlohmann/json.hpp>

#include "profiler/experiment/answer.h"

namespace vramscope::report {
namespace {

using Json = nlohmann::ordered_json;

Json TimeOrNull(const whatif::Saving& saving) {
  return saving.extra_ns.has_value() ? Json(*saving.extra_ns) : Json(nullptr);
}

const char* KindOf(const whatif::Saving& saving, const whatif::Savings& savings) {
  return experiment::NameOf(savings.IsRerun(saving) ? experiment::AnswerKind::kRerun
                                                    : experiment::AnswerKind::kTransformed);
}

Json CaseJson(const whatif::Saving& saving, const whatif::Savings& savings) {
  return {{"title", saving.title},
          {"kind", KindOf(saving, savings)},
          {"allocated_bytes", saving.allocated},
          {"reserved_bytes", saving.reserved},
          {"phase", saving.phase},
          {"extra_ns", TimeOrNull(saving)},
          {"code", saving.code},
          {"notes", saving.notes}};
}

}  // namespace

Json AdviceJson(const std::optional<whatif::Savings>& savings) {
  if (!savings.has_value()) return nullptr;
  Json changes = Json::array();
  for (const whatif::Saving* saving : savings->Advised(kChangesAdvised)) {
    changes.push_back({{"change", saving->title},
                       {"kind", KindOf(*saving, *savings)},
                       {"allocated_bytes", saving->allocated},
                       {"reserved_bytes", saving->reserved},
                       {"saved_reserved_bytes", savings->reserved - saving->reserved},
                       {"cost", saving->cost},
                       {"extra_ns", TimeOrNull(*saving)},
                       {"code", saving->code}});
  }
  return {{"step", savings->step},
          {"allocated_bytes", savings->allocated},
          {"reserved_bytes", savings->reserved},
          {"changes", std::move(changes)}};
}

Json SavingsJson(const std::optional<whatif::Savings>& savings) {
  if (!savings.has_value() || savings->cases.size() + savings->reruns.size() == 0) return nullptr;
  Json cases = Json::array();
  for (const whatif::Saving& saving : savings->cases) cases.push_back(CaseJson(saving, *savings));
  for (const whatif::Saving& saving : savings->reruns) cases.push_back(CaseJson(saving, *savings));
  return {{"step", savings->step},
          {"before", {{"allocated_bytes", savings->allocated}, {"reserved_bytes", savings->reserved}}},
          {"cases", std::move(cases)}};
}

}  // namespace vramscope::report
