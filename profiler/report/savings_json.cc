// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/savings_json.h"

#include <nlohmann/json.hpp>

namespace vramscope::report {
namespace {

using Json = nlohmann::ordered_json;

Json TimeOrNull(const Saving& saving) {
  return saving.extra_ns.has_value() ? Json(*saving.extra_ns) : Json(nullptr);
}

Json CaseJson(const Saving& saving) {
  return {{"title", saving.title},
          {"kind", saving.kind},
          {"allocated_bytes", saving.allocated},
          {"reserved_bytes", saving.reserved},
          {"phase", saving.phase},
          {"extra_ns", TimeOrNull(saving)},
          {"code", saving.code},
          {"notes", saving.notes}};
}

}  // namespace

Json AdviceJson(const std::optional<Savings>& savings) {
  if (!savings.has_value()) return nullptr;
  Json changes = Json::array();
  for (const Saving* saving : savings->Advised(kChangesAdvised)) {
    changes.push_back({{"change", saving->title},
                       {"kind", saving->kind},
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

Json SavingsJson(const std::optional<Savings>& savings) {
  if (!savings.has_value() || savings->cases.size() + savings->reruns.size() == 0) return nullptr;
  Json cases = Json::array();
  for (const Saving& saving : savings->cases) cases.push_back(CaseJson(saving));
  for (const Saving& saving : savings->reruns) cases.push_back(CaseJson(saving));
  return {{"step", savings->step},
          {"before", {{"allocated_bytes", savings->allocated}, {"reserved_bytes", savings->reserved}}},
          {"cases", std::move(cases)}};
}

}  // namespace vramscope::report
