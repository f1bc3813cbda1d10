// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "profiler/fleet/heat_map.h"
#include "profiler/fleet/job.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::fleet {
namespace {

using Json = nlohmann::ordered_json;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
Json StepOrNull(uint32_t step) { return step == 0 ? Json(nullptr) : Json(step); }

Json CategoriesJson(const classify::CategoryBytes& bytes) {
  Json categories = Json::object();
  for (size_t i = 0; i < bytes.size(); ++i)
    categories[classify::Info(static_cast<classify::Category>(i)).key] = bytes[i];
  return categories;
}

Json StepsJson(const RankSummary& rank) {
  Json steps = Json::array();
  for (const StepFigures& step : rank.steps)
    steps.push_back({{"step", step.number},
                     {"begin_ns", step.begin_ns},
                     {"end_ns", step.end_ns},
                     {"peak_bytes", step.peak_bytes},
                     {"reserved_bytes", step.reserved_bytes == 0 ? Json(nullptr) : Json(step.reserved_bytes)},
                     {"end_bytes", step.end_bytes}});
  return steps;
}

Json SlowestJson(const RankSummary& rank) {
  const StepFigures* const slowest = rank.slowest_step();
  if (slowest == nullptr) return nullptr;
  return {{"step", slowest->number}, {"duration_ns", slowest->end_ns - slowest->begin_ns}};
}

Json MeshJson(const RankSummary& rank) {
  Json mesh = Json::object();
  for (const model::MeshPlace& place : rank.mesh)
    mesh[place.name] = {{"index", place.index}, {"size", place.size}};
  return mesh;
}

// A rank without its steps.
Json RankJson(const Job& job, size_t index) {
  const RankSummary& rank = job.ranks[index];
  const Timing& timing = job.clocks.ranks[index];
  Json elsewhere = Json::array();
  for (const Elsewhere& there : rank.elsewhere)
    elsewhere.push_back({{"device", there.device}, {"bytes", there.bytes}});
  return {{"rank", text::OrNull(rank.rank)},
          {"host", TextOrNull(rank.host)},
          {"mesh", MeshJson(rank)},
          {"device", rank.device},
          {"gpu_uuid", TextOrNull(rank.gpu_uuid)},
          {"process", rank.is_snapshot ? Json(nullptr) : Json(rank.pid)},
          {"file", rank.file},
          {"group", job.group_of[index]},
          {"peak",
           {{"allocated_bytes", rank.peak_bytes},
            {"reserved_bytes", text::OrNull(rank.reserved_bytes)},
            {"device_used_bytes", text::OrNull(rank.used_bytes)},
            {"step", StepOrNull(rank.peak_step)},
            {"phase", timeline::PhaseName(rank.peak_phase)},
            {"categories", CategoriesJson(rank.categories)}}},
          {"capacity_bytes", text::OrNull(rank.capacity_bytes)},
          {"headroom_bytes", text::OrNull(rank.headroom_bytes())},
          {"unused_bytes", text::OrNull(rank.unused_bytes)},
          {"outside_bytes", text::OrNull(rank.outside_bytes)},
          {"elsewhere", elsewhere},
          {"growth_bytes_per_step", rank.growth_per_step},
          {"steps_left", text::OrNull(rank.steps_left())},
          {"ending", EndingKey(rank.ending)},
          {"failed", TextOrNull(rank.ending_text)},
          {"behind_ns", text::OrNull(timing.behind_ns)},
          {"steps_behind", timing.steps_behind},
          {"slowest_step", SlowestJson(rank)}};
}

Json SpreadJson(const Spread& spread) {
  return {{"lowest_bytes", spread.lowest},
          {"median_bytes", spread.median},
          {"highest_bytes", spread.highest},
          {"spread", spread.share()}};
}

Json RankOrName(const Job& job, size_t rank) {
  return job.ranks[rank].rank.has_value() ? Json(*job.ranks[rank].rank) : Json(nullptr);
}

Json GroupJson(const Job& job, const PeerGroup& group) {
  Json members = Json::array();
  for (const size_t member : group.members) members.push_back(RankOrName(job, member));
  return {{"stage", TextOrNull(group.stage)},
          {"ranks", members},
          {"typical", RankOrName(job, group.typical)},
          {"allocated", SpreadJson(group.allocated)},
          {"reserved", group.reserved.median == 0 ? Json(nullptr) : SpreadJson(group.reserved)},
          {"device_used", group.used.median == 0 ? Json(nullptr) : SpreadJson(group.used)}};
}

Json FindingJson(const Job& job, const Finding& finding) {
  Json ranks = Json::array();
  for (const size_t rank : finding.ranks) ranks.push_back(RankOrName(job, rank));
  if (finding.kind == Finding::Kind::kMissing) ranks = job.missing;
  return {{"kind", FindingKey(finding.kind)},
          {"ranks", ranks},
          {"text", finding.text},
          {"bytes", finding.bytes},
          {"since_step", StepOrNull(finding.since_step)},
          {"category", TextOrNull(finding.category)},
          {"module", TextOrNull(finding.module)},
          {"line", TextOrNull(finding.line)},
          {"cause", TextOrNull(finding.cause)}};
}

Json ClocksJson(const Clocks& clocks) {
  Json hosts = Json::array();
  for (const HostClock& clock : clocks.hosts)
    hosts.push_back({{"host", TextOrNull(clock.host)},
                     {"ranks", clock.ranks},
                     {"offset_ns", clock.offset_ns},
                     {"drift_ppm", clock.drift_ppm},
                     {"residual_ns", clock.residual_ns},
                     {"steps", clock.steps}});
  return hosts;
}

Json Document(const Job& job) {
  Json document = {{"schema_version", 1}};
  Json& ranks = document["ranks"] = Json::array();
  for (size_t i = 0; i < job.ranks.size(); ++i) ranks.push_back(RankJson(job, i));
  Json& groups = document["groups"] = Json::array();
  for (const PeerGroup& group : job.groups) groups.push_back(GroupJson(job, group));
  Json& findings = document["findings"] = Json::array();
  for (const Finding& finding : job.findings) findings.push_back(FindingJson(job, finding));
  document["first_out"] = nullptr;
  if (job.first_out.has_value())
    document["first_out"] = {{"rank", RankOrName(job, job.first_out->rank)},
                             {"steps_left", job.first_out->steps_left},
                             {"time_left_ns", text::OrNull(job.first_out->time_left_ns)}};
  document["missing"] = job.missing;
  document["step_ns"] = job.clocks.step_ns;
  document["hosts"] = ClocksJson(job.clocks);
  document["notes"] = job.notes;
  return document;
}

Json HeatJson(const Job& job) {
  const HeatMap heat = HeatMapOf(job);
  Json rows = Json::array();
  for (const HeatMap::Row& row : heat.rows) {
    Json bytes = Json::array();
    for (const uint64_t value : row.bytes) bytes.push_back(value == 0 ? Json(nullptr) : Json(value));
    rows.push_back({{"name", row.name}, {"bytes", std::move(bytes)}});
  }
  return {{"first_step", heat.first_step}, {"steps_per_column", heat.steps_per_column}, {"rows", rows}};
}

}  // namespace

std::string ToJson(const Job& job) {
  Json document = Document(job);
  for (size_t i = 0; i < job.ranks.size(); ++i) document["ranks"][i]["steps"] = StepsJson(job.ranks[i]);
  return text::Dump(document);
}

std::string PageJson(const Job& job) {
  Json document = Document(job);
  document["heat"] = HeatJson(job);
  return text::Dump(document, -1);
}

}  // namespace vramscope::fleet
