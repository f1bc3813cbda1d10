// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/json.h"

#include <nlohmann/json.hpp>

#include "profiler/fragmentation/cause.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::fragmentation {
namespace {

using Json = nlohmann::ordered_json;
using text::OrNull;

constexpr int kSchemaVersion = 1;

Json TextOrNull(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json StreamJson(const Subject& subject, allocator::StreamIndex stream) {
  return subject.streams_known ? Json(subject.history.streams[stream]) : Json(nullptr);
}

Json PoolJson(const Subject& subject, allocator::PoolIndex pool) {
  const allocator::PoolId id = subject.history.pools[pool];
  return Json::array({id.capture, id.user});
}

Json RequestsJson(const Subject& subject, const std::vector<LargestRequest>& requests) {
  Json all = Json::array();
  for (const LargestRequest& request : requests) {
    all.push_back({{"stream", StreamJson(subject, request.stream)},
                   {"pool", PoolJson(subject, request.pool)},
                   {"from_free_blocks_bytes", request.from_free_blocks},
                   {"from_driver_bytes", OrNull(request.from_driver)}});
  }
  return all;
}

Json DomainsJson(const Subject& subject, const std::vector<DomainMetrics>& domains) {
  Json all = Json::array();
  for (const DomainMetrics& domain : domains) {
    all.push_back({{"stream", StreamJson(subject, domain.sums.stream)},
                   {"pool", PoolJson(subject, domain.sums.pool)},
                   {"segment_type", domain.sums.large ? "large" : "small"},
                   {"reserved_bytes", domain.sums.reserved},
                   {"allocated_bytes", domain.sums.allocated},
                   {"pending_free_bytes", domain.sums.pending},
                   {"free_bytes", domain.sums.free},
                   {"free_runs", domain.space.runs},
                   {"largest_free_bytes", domain.space.largest},
                   {"stranded_bytes", domain.sums.free - domain.sums.whole},
                   {"external", domain.space.External()},
                   {"root_sum_square", domain.space.RootSumSquare()}});
  }
  return all;
}

Json HistogramJson(const std::vector<FreeRuns>& histogram) {
  Json all = Json::array();
  for (const FreeRuns& runs : histogram) {
    all.push_back({{"at_least_bytes", runs.at_least}, {"runs", runs.runs}, {"bytes", runs.bytes}});
  }
  return all;
}

Json PinJson(const Subject& subject, const PinAnswer& pin) {
  const bool pending = pin.block.use == allocator::BlockUse::kPendingFree;
  return {{"number", OrNull(pin.text.number)},
          {"address", pin.block.address},
          {"bytes", pin.block.bytes},
          {"requested_bytes", subject.requests_known ? Json(pin.block.requested_bytes) : Json(nullptr)},
          {"pending_free", pending},
          {"name", TextOrNull(pin.text.name)},
          {"category", TextOrNull(pin.text.category)},
          {"module", TextOrNull(pin.text.module)},
          {"frames", pin.text.frames}};
}

Json WaitingJson(const Subject& subject, const std::vector<WaitingBlock>& waiting) {
  Json all = Json::array();
  for (const WaitingBlock& one : waiting) {
    Json json = PinJson(subject, {one.block, one.text});
    json["stream"] = one.stream;
    json["waits_for_streams"] = one.waits_for;
    all.push_back(std::move(json));
  }
  return all;
}

Json SeriesJson(const std::vector<SeriesPoint>& series) {
  Json all = Json::array();
  for (const SeriesPoint& point : series) {
    all.push_back({{"event", point.moment},
                   {"time_ns", point.time_ns},
                   {"reserved_bytes", point.reserved},
                   {"allocated_bytes", point.allocated},
                   {"requested_bytes", point.requested},
                   {"largest_free_bytes", point.largest_free},
                   {"external", point.external},
                   {"root_sum_square", point.root_sum_square},
                   {"decomposition", CausesJson(point.causes)}});
  }
  return all;
}

Json TroublesJson(const Troubles& troubles) {
  const bool at_event = troubles.first.has_value() && *troubles.first != kBeforeHistory;
  return {{"first_event", at_event ? Json(*troubles.first) : Json(nullptr)},
          {"outside_segments", troubles.outside_segments},
          {"overlaps", troubles.overlaps},
          {"too_small", troubles.too_small},
          {"not_at_begin", troubles.not_at_begin},
          {"unknown_frees", troubles.unknown_frees},
          {"segments_in_use", troubles.segments_in_use},
          {"unknown_segments", troubles.unknown_segments},
          {"other_end", troubles.other_end}};
}

double Ratio(uint64_t part, uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

Json CausesJson(const Decomposition& causes) {
  Json json = Json::object();
  for (const Cause& cause : kCauses) json[cause.key] = causes.*cause.bytes;
  return json;
}

Json MomentJson(const Subject& subject, const MomentAnswer& moment) {
  const Metrics& metrics = moment.metrics;
  return {{"at", moment.asked},
          {"event", moment.moment},
          {"trace_event", OrNull(moment.trace_events)},
          {"time_ns", moment.time_ns},
          {"step", moment.place.step == 0 ? Json(nullptr) : Json(moment.place.step)},
          {"phase", TextOrNull(moment.place.phase)},
          {"reserved_bytes", metrics.total.reserved},
          {"allocated_bytes", metrics.total.allocated},
          {"active_bytes", metrics.active()},
          {"requested_bytes", metrics.total.requested},
          {"free_bytes", metrics.total.free},
          {"largest_free_bytes", metrics.space.largest},
          {"stranded_bytes", metrics.stranded()},
          {"driver_free_bytes", OrNull(moment.driver_free)},
          {"decomposition", CausesJson(metrics.causes)},
          {"metrics",
           {{"instantaneous", metrics.Instantaneous()},
            {"external", metrics.space.External()},
            {"root_sum_square", metrics.space.RootSumSquare()},
            {"internal", metrics.Internal()},
            {"pending_share", metrics.PendingShare()}}},
          {"largest_requests", RequestsJson(subject, moment.largest_requests)},
          {"domains", DomainsJson(subject, metrics.domains)},
          {"free_runs", HistogramJson(metrics.histogram)},
          {"waiting", WaitingJson(subject, moment.waiting)}};
}

Json SegmentsJson(const Subject& subject, const std::vector<SegmentAnswer>& segments) {
  Json all = Json::array();
  for (const SegmentAnswer& answer : segments) {
    Json pins = Json::array();
    for (const PinAnswer& pin : answer.pinned_by) pins.push_back(PinJson(subject, pin));
    all.push_back({{"address", answer.segment.address},
                   {"bytes", answer.segment.bytes},
                   {"stream", StreamJson(subject, answer.domain.stream)},
                   {"pool", PoolJson(subject, answer.domain.pool)},
                   {"segment_type", answer.domain.large ? "large" : "small"},
                   {"expandable", answer.segment.expandable()},
                   {"live_bytes", answer.pinned.live},
                   {"live_blocks", answer.segment.live_blocks},
                   {"free_bytes", answer.pinned.free},
                   {"largest_free_bytes", answer.pinned.largest_free},
                   {"held_back_bytes", answer.pinned.held_back},
                   {"pinning_blocks", answer.pinned.pins.size()},
                   {"pinned_by", std::move(pins)}});
  }
  return all;
}

std::string ToJson(const Subject& subject, const Answer& answer, int indent) {
  Json document = {{"schema_version", kSchemaVersion},
                   {"source", subject.source},
                   {"device", subject.device},
                   {"process", OrNull(subject.pid)},
                   {"rank", OrNull(subject.rank)},
                   {"others", subject.others},
                   {"settings", subject.history.settings},
                   {"torch_version", TextOrNull(subject.history.torch_version)},
                   {"events", answer.events},
                   {"requests_known", subject.requests_known}};
  document.update(MomentJson(subject, answer.chosen));
  document["peak_reserved_bytes"] = answer.peak_reserved;
  document["peak_allocated_bytes"] = answer.peak_allocated;
  document["lower_bound_bytes"] = answer.peak_requested;
  document["fragmentation"] = answer.Fragmentation();
  document["overhead"] = answer.peak_requested == 0
                             ? Json(nullptr)
                             : Json(Ratio(answer.peak_reserved, answer.peak_requested) - 1);
  document["segments_held_back"] = answer.segment_count;
  document["segments"] = SegmentsJson(subject, answer.segments);
  Json moments = Json::array();
  for (const MomentAnswer& moment : answer.moments) moments.push_back(MomentJson(subject, moment));
  document["moments"] = std::move(moments);
  document["series"] = SeriesJson(answer.series);
  document["troubles"] = TroublesJson(answer.troubles);
  document["notes"] = answer.notes;
  return text::Dump(document, indent);
}

}  // namespace vramscope::fragmentation
