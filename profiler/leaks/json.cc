// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/json.h"

#include <nlohmann/json.hpp>

#include "profiler/leaks/growth.h"
#include "profiler/text/json_dump.h"

namespace vramscope::leaks {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json GrowthJson(const std::vector<Growth>& all) {
  Json list = Json::array();
  for (const Growth& growth : all) {
    list.push_back({{"bytes_per_step", growth.bytes_per_step},
                    {"bytes", growth.bytes},
                    {"blocks", growth.blocks},
                    {"line", TextOrNull(growth.line)},
                    {"module", TextOrNull(growth.module)},
                    {"op", TextOrNull(growth.op)},
                    {"phase", timeline::PhaseName(growth.phase)},
                    {"kept_by", growth.keeper == Keeper::kGraph ? "autograd_graph" : "program"},
                    {"memory", growth.pinned_host ? "pinned_host" : "device"},
                    {"places", growth.places},
                    {"as_in_step", growth.as_in_step == 0 ? Json(nullptr) : Json(growth.as_in_step)},
                    {"first_step", growth.first_step},
                    {"last_step", growth.last_step},
                    {"steps", growth.steps}});
  }
  return list;
}

}  // namespace

std::string ToJson(const Answer& answer) {
  const Json document = {{"schema_version", report::kSchemaVersion},
                         {"device", answer.device},
                         {"process", answer.pid},
                         {"steps", answer.steps},
                         {"first_judged_step", answer.first_judged},
                         {"last_judged_step", answer.last_judged},
                         {"bytes_per_step", answer.bytes_per_step},
                         {"leaks", GrowthJson(answer.leaks)},
                         {"settled", GrowthJson(answer.settled)}};
  return text::Dump(document);
}

}  // namespace vramscope::leaks
