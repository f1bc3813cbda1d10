// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/json.h"

#include <nlohmann/json.hpp>
#include <string>

namespace vramscope::growth {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json NumberOrNull(uint32_t number) { return number == 0 ? Json(nullptr) : Json(number); }

const char* KeeperKey(Keeper keeper) {
  switch (keeper) {
    case Keeper::kProgram:
      return "program";
    case Keeper::kGraph:
      return "autograd_graph";
    case Keeper::kCycle:
      return "autograd_cycle";
    case Keeper::kReplaced:
      return "replaced";
  }
  return "program";
}

}  // namespace

Json ToJson(const std::vector<Growth>& places) {
  Json list = Json::array();
  for (const Growth& growth : places) {
    list.push_back({{"bytes_per_step", growth.bytes_per_step},
                    {"every_steps", NumberOrNull(growth.every)},
                    {"bytes_each_time", growth.bytes_each_time},
                    {"bytes", growth.bytes},
                    {"blocks", growth.blocks},
                    {"line", TextOrNull(growth.line)},
                    {"module", TextOrNull(growth.module)},
                    {"op", TextOrNull(growth.op)},
                    {"phase", timeline::PhaseName(growth.phase)},
                    {"kept_by", KeeperKey(growth.keeper)},
                    {"memory", growth.pinned_host ? "pinned_host" : "device"},
                    {"places", growth.places},
                    {"as_in_step", NumberOrNull(growth.as_in_step)},
                    {"first_step", growth.first_step},
                    {"last_step", growth.last_step},
                    {"steps", growth.steps}});
  }
  return list;
}

}  // namespace vramscope::growth
