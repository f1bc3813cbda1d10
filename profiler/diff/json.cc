// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/json.h"

#include <nlohmann/json.hpp>

#include "profiler/diff/compare.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::diff {
namespace {

using Json = nlohmann::ordered_json;

Json RowJson(const Row& row) {
  return {{"name", row.name},
          {"before_bytes", row.before},
          {"after_bytes", row.after},
          {"change_bytes", row.change()}};
}

Json SideJson(const Side& side) {
  const report::Peak& peak = side.answer.peak;
  return {{"file", side.path},
          {"device", side.answer.device},
          {"process", side.answer.pid},
          {"rank", text::OrNull(side.answer.rank)},
          {"others", side.answer.others},
          {"failed", side.answer.failed.empty() ? Json(nullptr) : Json(side.answer.failed)},
          {"peak",
           {{"allocated_bytes", peak.allocated_bytes},
            {"reserved_bytes", peak.reserved_bytes.has_value() ? Json(*peak.reserved_bytes) : Json(nullptr)},
            {"reserved_peak_bytes",
             peak.reserved_peak_bytes.has_value() ? Json(*peak.reserved_peak_bytes) : Json(nullptr)},
            {"device_used_bytes",
             peak.device_used_bytes.has_value() ? Json(*peak.device_used_bytes) : Json(nullptr)},
            {"time_ns", peak.time_ns},
            {"step", peak.step == 0 ? Json(nullptr) : Json(peak.step)},
            {"phase", timeline::PhaseName(peak.phase)}}},
          {"steps", side.answer.steps.size()}};
}

}  // namespace

std::string ToJson(const Side& before, const Side& after, const Diff& diff) {
  Json categories = Json::array();
  for (const Row& row : diff.categories) categories.push_back(RowJson(row));
  Json owners = Json::array();
  for (const OwnerRow& row : diff.owners) {
    Json json = RowJson(row);
    json["kind"] = report::OwnerKindKey(row.kind);
    if (row.kind == report::Owner::Kind::kModulePattern) {
      json["members_before"] = row.members_before;
      json["members_after"] = row.members_after;
    }
    owners.push_back(std::move(json));
  }
  Json steps = Json::array();
  for (const StepRow& row : diff.steps) {
    steps.push_back({{"step", row.step}, {"before_bytes", row.before}, {"after_bytes", row.after}});
  }
  Json causes = Json::array();
  for (const Cause& cause : diff.causes) {
    causes.push_back({{"kind", CauseKey(cause.kind)}, {"what", cause.what}, {"change_bytes", cause.bytes}});
  }
  const Json document = {{"schema_version", report::kSchemaVersion},
                         {"before", SideJson(before)},
                         {"after", SideJson(after)},
                         {"change_bytes", diff.peak.change()},
                         {"causes", std::move(causes)},
                         {"categories", std::move(categories)},
                         {"owners", std::move(owners)},
                         {"steps", std::move(steps)},
                         {"notes", diff.notes}};
  return text::Dump(document);
}

}  // namespace vramscope::diff
