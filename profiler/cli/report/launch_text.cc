// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/launch_text.h"

#include <fmt/format.h>

#include "profiler/cli/frame/terminal.h"
#include "profiler/text/or_null.h"

namespace vramscope::cli {
namespace {

nlohmann::json NamedOrNull(const std::string& value) {
  return value.empty() ? nlohmann::json(nullptr) : nlohmann::json(value);
}

std::string Named(const char* name, const std::string& value) {
  return value.empty() ? "" : fmt::format("{} {}", name, Printable(value));
}

std::string Counted(const char* name, const std::optional<uint32_t>& value) {
  return value.has_value() ? fmt::format("{} {}", name, *value) : "";
}

std::string GpuText(const model::Launch& launch) {
  std::string text;
  for (const auto& [device, uuid] : launch.gpu_uuids)
    text += fmt::format("{}cuda:{} {}", text.empty() ? "" : ", ", device, Printable(uuid));
  return text;
}

}  // namespace

void AddLaunch(const model::Launch& launch, nlohmann::json& process) {
  process["rank"] = text::OrNull(launch.rank);
  process["local_rank"] = text::OrNull(launch.local_rank);
  process["world_size"] = text::OrNull(launch.world_size);
  process["host"] = NamedOrNull(launch.host);
  process["pod"] = NamedOrNull(launch.pod);
  process["job"] = NamedOrNull(launch.job);
  process["environment"] = launch.variables;
  nlohmann::json& mesh = process["mesh"] = nlohmann::json::object();
  for (const model::MeshPlace& place : launch.mesh)
    mesh[place.name] = {{"index", place.index}, {"size", place.size}};
  nlohmann::json& gpus = process["gpu_uuids"] = nlohmann::json::object();
  for (const auto& [device, uuid] : launch.gpu_uuids) gpus[std::to_string(device)] = uuid;
}

std::string RankTable(const TraceFacts& facts) {
  Table table(std::vector<Align>(8, Align::kLeft));
  for (const ProcessFacts& process : facts.processes) {
    const model::Launch& launch = process.launch;
    if (!launch.rank.has_value() || process.role == "worker") continue;
    table.AddRow({fmt::format("rank {} {}", *launch.rank, Counted("of", launch.world_size)),
                  Printable(model::MeshText(launch.mesh)), Counted("local rank", launch.local_rank),
                  Printable(launch.host), Named("pod", launch.pod), Named("job", launch.job),
                  fmt::format("process {}", process.info.pid), GpuText(launch)});
  }
  return table.ToString();
}

}  // namespace vramscope::cli
