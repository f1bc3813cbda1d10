// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/json.h"

#include <nlohmann/json.hpp>

#include "profiler/check/judge.h"
#include "profiler/report/spoken_json.h"
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
  if (verdict.limit_share.has_value()) {
    json["measured"] = OrNull(verdict.measured_share);
    json["limit"] = OrNull(verdict.limit_share);
  } else {
    json["measured_bytes"] = OrNull(verdict.measured_bytes);
    json["limit_bytes"] = OrNull(verdict.limit_bytes);
  }
  if (verdict.rule.kind == Rule::Kind::kNoLeak) json["places"] = verdict.places;
  report::AddSpoken(verdict.decided_by, json);
  json.erase("others");
  json["judged"] = verdict.judged;
  json["broken"] = verdict.broken;
  json["detail"] = verdict.detail.empty() ? Json(nullptr) : Json(verdict.detail);
  return json;
}

}  // namespace

std::string ToJson(const std::vector<const report::Answer*>& devices, const std::vector<Verdict>& verdicts) {
  Json rules = Json::array();
  for (const Verdict& verdict : verdicts) rules.push_back(VerdictJson(verdict));
  Json document = {{"schema_version", report::kSchemaVersion}, {"result", OutcomeKey(Overall(verdicts))}};
  Json judged = Json::array();
  for (const report::Answer* device : devices) {
    Json one = Json::object();
    report::AddSpoken({device->device, device->pid, device->rank, 0, device->about}, one);
    one["failed"] = device->failed.empty() ? Json(nullptr) : Json(device->failed);
    judged.push_back(std::move(one));
  }
  const report::Answer& first = *devices.front();
  report::AddSpoken(
      {first.device, first.pid, first.rank, static_cast<uint32_t>(devices.size() - 1), first.about},
      document);
  document["devices"] = std::move(judged);
  document["rules"] = std::move(rules);
  return text::Dump(document);
}

}  // namespace vramscope::check
