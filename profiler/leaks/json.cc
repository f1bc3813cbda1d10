// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/json.h"

#include <nlohmann/json.hpp>

#include "profiler/leaks/growth.h"
#include "profiler/report/json.h"
#include "profiler/text/json_dump.h"

namespace vramscope::leaks {
namespace {

using Json = nlohmann::ordered_json;

Json HostJson(const std::vector<HostGrowth>& all) {
  Json list = Json::array();
  for (const HostGrowth& host : all) {
    list.push_back({{"process", host.pid == 0 ? Json(nullptr) : Json(host.pid)},
                    {"processes", host.processes},
                    {"bytes_per_step", host.growth.bytes_per_step},
                    {"bytes", host.growth.bytes}});
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
                         {"leaks", growth::ToJson(answer.leaks)},
                         {"settled", growth::ToJson(answer.settled)},
                         {"host", HostJson(answer.host)}};
  return text::Dump(document);
}

}  // namespace vramscope::leaks
