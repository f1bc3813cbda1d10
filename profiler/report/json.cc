// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "profiler/growth/json.h"
#include "profiler/report/coverage_json.h"
#include "profiler/report/memory_json.h"
#include "profiler/report/savings_json.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::report {
namespace {

using Json = nlohmann::ordered_json;
using text::OrNull;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json StepOrNull(uint32_t step) { return step == 0 ? Json(nullptr) : Json(step); }

Json CategoriesJson(const classify::CategoryBytes& bytes) {
  Json categories = Json::object();
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    categories[classify::Info(static_cast<classify::Category>(i)).key] = bytes[i];
  }
  return categories;
}

// Only categories that are not 0: an owner has one or two of the thirteen.
Json NonZeroCategoriesJson(const classify::CategoryBytes& bytes) {
  Json categories = Json::object();
  for (size_t i = 0; i < classify::kCategoryCount; ++i) {
    if (bytes[i] != 0) categories[classify::Info(static_cast<classify::Category>(i)).key] = bytes[i];
  }
  return categories;
}

Json MomentJson(const Moment& moment) {
  return {{"allocated_bytes", moment.allocated_bytes},
          {"reserved_bytes", OrNull(moment.reserved_bytes)},
          {"device_used_bytes", OrNull(moment.device_used_bytes)},
          {"trace_event", moment.events},
          {"time_ns", moment.time_ns},
          {"monotonic_ns", moment.monotonic_ns},
          {"step", StepOrNull(moment.step)},
          {"phase", timeline::PhaseName(moment.phase)},
          {"categories", CategoriesJson(moment.categories)}};
}

Json BlockJson(const LiveBlock& block, const Answer& answer) {
  return {{"number", block.number},
          {"address", block.address},
          {"bytes", block.bytes},
          {"category", classify::Info(block.category).key},
          {"proof", classify::ProofKey(block.proof)},
          {"name", block.name},
          {"module", TextOrNull(block.module)},
          {"op", TextOrNull(block.op)},
          {"device", answer.device},
          {"process", answer.pid}};
}

Json PeakJson(const Peak& peak) {
  Json json = MomentJson(peak);
  json["reserved_peak_bytes"] = OrNull(peak.reserved_peak_bytes);
  json["driver"] = DriverJson(peak.driver);
  json["module"] = TextOrNull(peak.module);
  json["node"] = TextOrNull(peak.node);
  json["op"] = TextOrNull(peak.op);
  json["as_in_step"] = StepOrNull(peak.as_in_step);
  return json;
}

Json StepsJson(const Answer& answer) {
  Json steps = Json::array();
  for (const Step& step : answer.steps) {
    steps.push_back({{"step", step.number},
                     {"begin_ns", step.begin_ns},
                     {"end_ns", step.end_ns},
                     {"complete", step.complete},
                     {"deep", step.deep},
                     {"peak", MomentJson(step.peak)},
                     {"end_allocated_bytes", step.end_bytes},
                     {"allocations", step.allocations},
                     {"handed_out_bytes", step.handed_out_bytes}});
  }
  return steps;
}

Json OwnersJson(const Answer& answer) {
  Json owners = Json::array();
  for (const Owner& owner : answer.owners) {
    Json json = {{"kind", OwnerKindKey(owner.kind)},
                 {"name", owner.name},
                 {"bytes", owner.bytes},
                 {"blocks", owner.blocks},
                 {"categories", NonZeroCategoriesJson(owner.categories)}};
    if (owner.kind == Owner::Kind::kModulePattern) json["members"] = owner.members;
    if (!owner.frames.empty()) json["frames"] = owner.frames;
    owners.push_back(std::move(json));
  }
  return owners;
}

Json OwnedJson(const Answer& answer) {
  Json owned = Json::object();
  for (const auto& [kind, bytes] : answer.owned_bytes) owned[OwnerKindKey(kind)] = bytes;
  return owned;
}

Json NvtxRangesJson(const Answer& answer) {
  Json ranges = Json::array();
  for (const NamedRange& range : answer.nvtx_ranges) {
    ranges.push_back({{"name", range.name},
                      {"times", range.times},
                      {"total_ns", range.total_ns},
                      {"peak_allocated_bytes", range.peak_bytes},
                      {"most_growth_bytes", range.most_growth}});
  }
  return ranges;
}

Json MomentsJson(const Answer& answer) {
  Json moments = Json::array();
  for (const Moment& moment : answer.moments) {
    Json json = MomentJson(moment);
    json["at"] = moment.asked;
    json["driver"] = DriverJson(moment.driver);
    if (answer.blocks_listed) {
      Json blocks = Json::array();
      for (const LiveBlock& block : moment.blocks) blocks.push_back(BlockJson(block, answer));
      json["blocks"] = std::move(blocks);
    }
    moments.push_back(std::move(json));
  }
  return moments;
}

Json DevicesJson(const Answer& answer) {
  Json devices = Json::array();
  for (const Device& device : answer.devices) {
    devices.push_back({{"device", device.name},
                       {"process", device.pid},
                       {"chosen", device.chosen},
                       {"allocations", device.allocations},
                       {"peak", MomentJson(device.peak)},
                       {"peak_reserved_bytes", OrNull(device.peak_reserved_bytes)},
                       {"peak_requested_bytes", OrNull(device.peak_requested_bytes)},
                       {"peak_device_used_bytes", OrNull(device.peak_used_bytes)},
                       {"driver", DriverJson(device.peak.driver)},
                       {"driver_libraries", DriverLibrariesJson(device.peak.driver)},
                       {"end_allocated_bytes", device.end_bytes}});
  }
  return devices;
}

Json ProcessesJson(const Answer& answer) {
  Json processes = Json::array();
  for (const Process& process : answer.processes) {
    processes.push_back(
        {{"pid", process.pid},
         {"parent_pid", process.parent_pid},
         {"role", process.role},
         {"command_line", process.command_line},
         {"exit_status", process.exit_status == -1 ? Json(nullptr) : Json(process.exit_status)},
         {"events", process.events},
         {"steps", process.steps},
         {"peak_allocated_bytes", process.peak_bytes}});
  }
  return processes;
}

// Only the first ones: a program that catches its errors can have millions, and readers of a report read the
// whole document.
constexpr size_t kMostFailures = 1000;

Json OutOfMemoryJson(const Answer& answer) {
  Json all = Json::array();
  for (const OutOfMemory& oom :
       std::span(answer.out_of_memory).first(std::min(answer.out_of_memory.size(), kMostFailures))) {
    all.push_back({{"time_ns", oom.time_ns},
                   {"process", oom.pid},
                   {"device", oom.device},
                   {"requested_bytes", oom.requested_bytes},
                   {"step", StepOrNull(oom.step)},
                   {"phase", timeline::PhaseName(oom.phase)}});
  }
  return all;
}

Json AnomaliesJson(const model::Anomalies& anomalies) {
  return {{"double_allocs", anomalies.double_allocs},
          {"unknown_frees", anomalies.unknown_frees},
          {"inherited_frees", anomalies.inherited_frees},
          {"size_mismatches", anomalies.size_mismatches},
          {"labels_without_block", anomalies.labels_without_block},
          {"saves_without_block", anomalies.saves_without_block},
          {"releases_without_save", anomalies.releases_without_save},
          {"unbalanced_ranges", anomalies.unbalanced_ranges},
          {"late_events", anomalies.late_events},
          {"bad_events", anomalies.bad_events},
          {"total_mismatches", anomalies.total_mismatches},
          {"not_loaded", anomalies.not_loaded},
          {"driver_double_allocs", anomalies.driver_double_allocs},
          {"driver_unknown_frees", anomalies.driver_unknown_frees},
          {"blocks_outside_segments", anomalies.blocks_outside_segments},
          {"segment_mismatches", anomalies.segment_mismatches},
          {"driver_mismatches", anomalies.driver_mismatches},
          {"driver_below_rows", anomalies.driver_below_rows}};
}

}  // namespace

const char* OwnerKindKey(Owner::Kind kind) {
  switch (kind) {
    case Owner::Kind::kModulePattern:
      return "module_pattern";
    case Owner::Kind::kModule:
      return "module";
    case Owner::Kind::kParameter:
      return "parameter";
    case Owner::Kind::kName:
      return "name";
    case Owner::Kind::kOp:
      return "op";
    case Owner::Kind::kStack:
      return "stack";
  }
  return "module";
}

std::string ToJson(const Answer& answer, int indent) {
  Json steps_asked = nullptr;
  if (answer.step_range.has_value()) steps_asked = {answer.step_range->first, answer.step_range->second};
  Json document = {
      {"schema_version", kSchemaVersion},
      {"command_line", answer.command_line},
      {"torch_version", TextOrNull(answer.torch_version())},
      {"framework", answer.framework->name},
      {"framework_version", TextOrNull(answer.framework_version)},
      {"duration_ns", answer.duration_ns},
      {"times", answer.counts_events ? "event_numbers" : "ns"},
      {"events", answer.events},
      {"dropped_events", answer.dropped_events},
      {"selection",
       {{"device", TextOrNull(answer.device)},
        {"process", answer.device.empty() ? Json(nullptr) : Json(answer.pid)},
        {"rank", OrNull(answer.rank)},
        {"others", answer.others},
        {"steps", std::move(steps_asked)}}},
      {"failed", TextOrNull(answer.failed)},
      {"peak", PeakJson(answer.peak)},
      {"steps", StepsJson(answer)},
      {"owners", OwnersJson(answer)},
      {"owned_bytes", OwnedJson(answer)},
      {"nvtx_ranges", NvtxRangesJson(answer)},
  };
  if (!answer.moments.empty()) document["moments"] = MomentsJson(answer);
  document["devices"] = DevicesJson(answer);
  document["processes"] = ProcessesJson(answer);
  document["host_memory"] = HostMemoryJson(answer.host_memory);
  document["growth"] = growth::ToJson(answer.growth);
  document["growth_headline"] = TextOrNull(answer.growth_headline);
  document["out_of_memory"] = OutOfMemoryJson(answer);
  document["out_of_memory_count"] = answer.out_of_memory.size();
  document["coverage"] = CoverageJson(answer.coverage);
  document["damage"] = {{"closed_cleanly", answer.damage.closed_cleanly},
                        {"unreadable_bytes", answer.damage.bytes_unreadable},
                        {"unreadable_blocks", answer.damage.blocks_unreadable},
                        {"sentence", answer.damage.sentence}};
  document["advice"] = AdviceJson(answer.savings);
  document["anomalies"] = AnomaliesJson(answer.anomalies);
  document["notes"] = answer.notes;
  return text::Dump(document, indent);
}

}  // namespace vramscope::report
