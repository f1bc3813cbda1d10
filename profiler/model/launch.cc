// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/launch.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>
#include <utility>

#include "profiler/text/number.h"

namespace vramscope::model {
namespace {

using Variables = std::map<std::string, std::string>;

// The first of these variables that holds a number.
std::optional<uint32_t> FirstNumber(const Variables& variables, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const auto found = variables.find(name);
    if (found == variables.end()) continue;
    if (const auto number = text::ParseNumber<uint32_t>(found->second)) return number;
  }
  return std::nullopt;
}

std::string FirstText(const Variables& variables, std::initializer_list<const char*> names) {
  for (const char* const name : names) {
    const auto found = variables.find(name);
    // torchrun without --rdzv-id calls its run "none".
    if (found != variables.end() && found->second != "none") return found->second;
  }
  return "";
}

// "21/32" -> (21, 32).
std::optional<std::pair<uint32_t, uint32_t>> ParsePlace(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = text::ParseNumber<uint32_t>(text.substr(0, slash));
  const auto size = text::ParseNumber<uint32_t>(text.substr(slash + 1));
  if (!index.has_value() || !size.has_value() || *index >= *size) return std::nullopt;
  return std::pair(*index, *size);
}

}  // namespace

bool Launch::on_several_hosts() const {
  if (world_size.has_value() && local_world_size.has_value()) return *world_size > *local_world_size;
  return FirstNumber(variables, {"SLURM_NNODES", "GROUP_WORLD_SIZE"}).value_or(1) > 1;
}

Launch LaunchOf(const trace::Metadata& metadata, ProcessIndex process) {
  Launch launch;
  const std::string prefix = "process." + std::to_string(process) + ".";
  const std::string_view kVariable = "env.";
  const std::string_view kGpu = "gpu.";
  for (auto fact = metadata.lower_bound(prefix); fact != metadata.end() && fact->first.starts_with(prefix);
       ++fact) {
    const std::string_view key = std::string_view(fact->first).substr(prefix.size());
    if (key == "rank") launch.rank = text::ParseNumber<uint32_t>(fact->second);
    if (key == "host") launch.host = fact->second;
    if (key == "pod") launch.pod = fact->second;
    if (key == "mesh") launch.mesh = ParseMesh(fact->second);
    if (key.starts_with(kGpu))
      if (const auto device = text::ParseNumber<uint32_t>(key.substr(kGpu.size())))
        launch.gpu_uuids.emplace(*device, fact->second);
    if (key.starts_with(kVariable)) launch.variables.emplace(key.substr(kVariable.size()), fact->second);
  }
  const Variables& variables = launch.variables;
  launch.local_rank = FirstNumber(
      variables, {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  launch.world_size =
      FirstNumber(variables, {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  launch.local_world_size =
      FirstNumber(variables, {"LOCAL_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"});
  // The rank that torch.distributed has: processes started by the same task share the variables of the task.
  const auto world = metadata.find(prefix + "world");
  if (const auto place = world == metadata.end() ? std::nullopt : ParsePlace(world->second)) {
    launch.rank = place->first;
    launch.world_size = place->second;
  }
  launch.job =
      FirstText(variables, {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "JOB_ID", "TORCHELASTIC_RUN_ID"});
  launch.gpus = FirstText(variables, {"CUDA_VISIBLE_DEVICES"});
  return launch;
}

std::vector<MeshPlace> ParseMesh(std::string_view text) {
  std::vector<MeshPlace> mesh;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    part.remove_prefix(std::min(part.find_first_not_of(' '), part.size()));
    const size_t space = part.find(' ');
    if (space == 0 || space == std::string_view::npos) continue;
    if (const auto place = ParsePlace(part.substr(space + 1)))
      mesh.push_back({std::string(part.substr(0, space)), place->first, place->second});
  }
  return mesh;
}

std::string MeshText(const std::vector<MeshPlace>& mesh) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t shown = 0;
  for (const MeshPlace& place : mesh) {
    if (place.size < 2 || shown == kMost) continue;
    text += (text.empty() ? "" : ", ") + place.name + " " + std::to_string(place.index);
    ++shown;
  }
  return text;
}

std::string RankText(const Launch& launch) {
  if (!launch.rank.has_value()) return "";
  std::string rank = "rank " + std::to_string(*launch.rank);
  if (const std::string mesh = MeshText(launch.mesh); !mesh.empty()) rank += " (" + mesh + ")";
  return launch.on_several_hosts() && !launch.host.empty() ? rank + " on " + launch.host : rank;
}

void RedactLaunches(trace::Metadata& metadata) {
  std::erase_if(metadata, [](const auto& fact) {
    const auto& [key, value] = fact;
    if (!key.starts_with("process.") || value.find_first_not_of("0123456789") == std::string::npos)
      return false;
    return key.ends_with(".host") || key.ends_with(".pod") || key.find(".env.") != std::string::npos ||
           key.find(".gpu.") != std::string::npos;
  });
}

}  // namespace vramscope::model
