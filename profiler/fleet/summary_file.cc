// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/summary_file.h"

#include <nlohmann/json.hpp>

#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

Json HeadJson(const RankSummary& rank) {
  Json elsewhere = Json::array();
  for (const Elsewhere& there : rank.elsewhere) elsewhere.push_back({there.device, there.bytes});
  Json mesh = Json::array();
  for (const model::MeshPlace& place : rank.mesh) mesh.push_back({place.name, place.index, place.size});
  return {{"rank", text::OrNull(rank.rank)},
          {"rank_from_name", rank.rank_from_name},
          {"world_size", text::OrNull(rank.world_size)},
          {"host", rank.host},
          {"device", rank.device},
          {"job", rank.job},
          {"gpu_uuid", rank.gpu_uuid},
          {"mesh", mesh},
          {"pid", rank.pid},
          {"part", rank.part},
          {"start_realtime_ns", rank.start_realtime_ns},
          {"last_ns", rank.last_ns},
          {"counts_events", rank.counts_events},
          {"peak_bytes", rank.peak_bytes},
          {"peak_step", rank.peak_step},
          {"peak_phase", static_cast<int>(rank.peak_phase)},
          {"categories", rank.categories},
          {"reserved_bytes", text::OrNull(rank.reserved_bytes)},
          {"unused_bytes", text::OrNull(rank.unused_bytes)},
          {"used_bytes", text::OrNull(rank.used_bytes)},
          {"capacity_bytes", text::OrNull(rank.capacity_bytes)},
          {"outside_bytes", text::OrNull(rank.outside_bytes)},
          {"elsewhere", elsewhere},
          {"last_bytes", rank.last_bytes},
          {"last_reserved_bytes", text::OrNull(rank.last_reserved_bytes)},
          {"last_used_bytes", text::OrNull(rank.last_used_bytes)},
          {"growth_per_step", rank.growth_per_step},
          {"growth_line", rank.growth_line},
          {"growth_module", rank.growth_module},
          {"growth_since", rank.growth_since},
          {"ending", EndingKey(rank.ending)},
          {"ending_text", rank.ending_text},
          {"ending_step", rank.ending_step},
          {"model", rank.model}};
}

template <typename T>
std::optional<T> Optional(const Json& json, const char* key) {
  const Json& value = json.at(key);
  return value.is_null() ? std::nullopt : std::optional(value.get<T>());
}

void ReadFigures(const Json& json, RankSummary& rank) {
  rank.peak_bytes = json.at("peak_bytes").get<uint64_t>();
  rank.peak_step = json.at("peak_step").get<uint32_t>();
  const auto phase = json.at("peak_phase").get<size_t>();
  if (phase < timeline::kPhaseCount) rank.peak_phase = static_cast<timeline::Phase>(phase);
  rank.categories = json.at("categories").get<classify::CategoryBytes>();
  rank.reserved_bytes = Optional<uint64_t>(json, "reserved_bytes");
  rank.unused_bytes = Optional<uint64_t>(json, "unused_bytes");
  rank.used_bytes = Optional<uint64_t>(json, "used_bytes");
  rank.capacity_bytes = Optional<uint64_t>(json, "capacity_bytes");
  rank.outside_bytes = Optional<uint64_t>(json, "outside_bytes");
  for (const Json& there : json.at("elsewhere"))
    rank.elsewhere.push_back({there.at(0).get<std::string>(), there.at(1).get<uint64_t>()});
  rank.last_bytes = json.at("last_bytes").get<uint64_t>();
  rank.last_reserved_bytes = Optional<uint64_t>(json, "last_reserved_bytes");
  rank.last_used_bytes = Optional<uint64_t>(json, "last_used_bytes");
  rank.growth_per_step = json.at("growth_per_step").get<uint64_t>();
  rank.growth_line = json.at("growth_line").get<std::string>();
  rank.growth_module = json.at("growth_module").get<std::string>();
  rank.growth_since = json.at("growth_since").get<uint32_t>();
}

RankSummary RankFrom(const Json& json, const std::string& file) {
  RankSummary rank;
  rank.file = file;
  rank.from_summary = true;
  rank.rank = Optional<uint32_t>(json, "rank");
  rank.rank_from_name = json.at("rank_from_name").get<bool>();
  rank.world_size = Optional<uint32_t>(json, "world_size");
  rank.host = json.at("host").get<std::string>();
  rank.device = json.at("device").get<std::string>();
  rank.job = json.value("job", "");  // earlier versions wrote neither this nor the next two values
  rank.gpu_uuid = json.value("gpu_uuid", "");
  if (json.contains("mesh"))
    for (const Json& place : json.at("mesh"))
      rank.mesh.push_back(
          {place.at(0).get<std::string>(), place.at(1).get<uint32_t>(), place.at(2).get<uint32_t>()});
  rank.pid = json.at("pid").get<uint32_t>();
  rank.part = json.value("part", uint32_t{0});
  rank.start_realtime_ns = json.at("start_realtime_ns").get<uint64_t>();
  rank.last_ns = json.at("last_ns").get<uint64_t>();
  rank.counts_events = json.at("counts_events").get<bool>();
  ReadFigures(json, rank);
  rank.ending = EndingFromKey(json.at("ending").get<std::string>()).value_or(Ending::kUnknown);
  rank.ending_text = json.at("ending_text").get<std::string>();
  rank.ending_step = json.at("ending_step").get<uint32_t>();
  rank.model = json.at("model").get<std::string>();
  for (const Json& step : json.at("steps"))
    rank.steps.push_back({step.at(0).get<uint32_t>(), step.at(1).get<uint64_t>(), step.at(2).get<uint64_t>(),
                          step.at(3).get<uint64_t>(), step.at(4).get<uint64_t>(),
                          step.at(5).get<uint64_t>()});
  return rank;
}

}  // namespace

std::string SummaryText(const std::vector<RankSummary>& ranks, uint64_t trace_bytes) {
  std::string text = "{\"vramscope_summary\": " + std::to_string(kVersion) +
                     ", \"trace_bytes\": " + std::to_string(trace_bytes) + ", \"ranks\": [";
  for (size_t i = 0; i < ranks.size(); ++i) {
    const std::string head = text::Dump(HeadJson(ranks[i]), -1);
    text += (i == 0 ? "\n" : ",\n") + head.substr(0, head.size() - 1) + ",\"steps\":[";
    for (size_t s = 0; s < ranks[i].steps.size(); ++s) {
      const StepFigures& step = ranks[i].steps[s];
      text += s == 0 ? "\n[" : ",\n[";
      text += std::to_string(step.number) + "," + std::to_string(step.begin_ns) + "," +
              std::to_string(step.end_ns) + "," + std::to_string(step.peak_bytes) + "," +
              std::to_string(step.reserved_bytes) + "," + std::to_string(step.end_bytes) + "]";
    }
    text += "]}";
  }
  return text + "\n]}\n";
}

Result<SummaryFile> ParseSummary(std::string_view text, const std::string& file) {
  const std::string name = file + std::string(kSummarySuffix);
  const Json json = Json::parse(text, nullptr, false);
  try {
    if (json.at("vramscope_summary").get<int>() != kVersion)
      return Error{
          name + ": is a summary of another version of vramscope. Remove it, and the trace is read instead."};
    SummaryFile summary;
    summary.trace_bytes = json.at("trace_bytes").get<uint64_t>();
    for (const Json& rank : json.at("ranks")) summary.ranks.push_back(RankFrom(rank, file));
    return summary;
  } catch (const nlohmann::json::exception&) {
    return Error{name +
                 ": is not a summary of vramscope, or is damaged. Remove it, and the trace is read instead."};
  }
}

}  // namespace vramscope::fleet
