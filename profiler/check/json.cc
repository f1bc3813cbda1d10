// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/json.h"

#include <nlohmann/json.hpp>

#include "profiler/check/judge.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::check {
namespace {

using Json = nlohmann::ordered_json;
using text::OrNull;

Json VerdictJson(const Verdict& verdict) {
  Json json = {{"rule", RuleKey(verdict.rule.kind)},
               {"asked", verdict.rule.asked},
               {"result", OutcomeKey(verdict.outcome)}};
  if (verdict.rule.kind == Rule::Kind::kFragmentation) {
    json["measured"] = OrNull(verdict.measured_share);
    json["limit"] = OrNull(verdict.limit_share);
  } else {
    json["measured_bytes"] = OrNull(verdict.measured_bytes);
    json["limit_bytes"] = OrNull(verdict.limit_bytes);
  }
  if (verdict.rule.kind == Rule::Kind::kNoLeak) json["places"] = verdict.places;
  json["detail"] = verdict.detail.empty() ? Json(nullptr) : Json(verdict.detail);
  return json;
}

}  // namespace

std::string ToJson(const report::Answer& run, const std::vector<Verdict>& verdicts) {
  Json rules = Json::array();
  for (const Verdict& verdict : verdicts) rules.push_back(VerdictJson(verdict));
  const Json document = {{"schema_version", report::kSchemaVersion},
                         {"result", OutcomeKey(Overall(verdicts))},
                         {"device", run.device.empty() ? Json(nullptr) : Json(run.device)},
                         {"process", run.device.empty() ? Json(nullptr) : Json(run.pid)},
                         {"rules", std::move(rules)}};
  return text::Dump(document);
}

}  // namespace vramscope::check
