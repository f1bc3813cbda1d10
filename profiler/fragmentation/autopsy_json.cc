// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "profiler/fragmentation/autopsy.h"
#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/fragmentation/json.h"
#include "profiler/growth/json.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/or_null.h"

namespace vramscope::fragmentation {
namespace {

using Json = nlohmann::ordered_json;
using text::OrNull;

Json RequestJson(const Subject& subject, const Autopsy& autopsy) {
  if (!autopsy.failure.has_value()) return nullptr;
  const Failure& failure = *autopsy.failure;
  const allocator::PoolId pool = subject.history.pools[failure.pool];
  return {{"number", autopsy.number},
          {"event", failure.moment},
          {"rounded_bytes", autopsy.rounded},
          {"segment_bytes", autopsy.segment_bytes},
          {"stream", subject.streams_known ? Json(subject.history.streams[failure.stream]) : Json(nullptr)},
          {"pool", Json::array({pool.capture, pool.user})},
          {"frames", failure.frames}};
}

Json FreeJson(const Autopsy& autopsy) {
  const FreeBytes& free = autopsy.free;
  return {{"driver_bytes", OrNull(free.driver)},
          {"same_domain_bytes", free.same_domain},
          {"largest_block_bytes", free.largest_block},
          {"releasable_bytes", free.releasable},
          {"returned_bytes", autopsy.returned},
          {"other_size_class_bytes", free.other_size_class},
          {"other_stream_bytes", free.other_stream},
          {"other_pool_bytes", free.other_pool},
          {"pending_bytes", free.pending}};
}

const char* EndKey(TrialEnd end) {
  switch (end) {
    case TrialEnd::kFits:
      return "fits";
    case TrialEnd::kFails:
      return "fails";
    case TrialEnd::kFailsBefore:
      return "fails_before";
    case TrialEnd::kFailsAfter:
      return "fails_after";
  }
  return "fails";
}

Json TrialsJson(const std::vector<Trial>& trials) {
  Json all = Json::array();
  for (const Trial& trial : trials) {
    const bool before = trial.end == TrialEnd::kFailsBefore;
    all.push_back({{"settings", trial.settings},
                   {"result", EndKey(trial.end)},
                   {"failed_at_event", before ? Json(trial.failed_at) : Json(nullptr)},
                   {"served_after", trial.end == TrialEnd::kFailsAfter ? Json(trial.served) : Json(nullptr)},
                   {"reserved_bytes", trial.reserved},
                   {"driver_free_bytes", trial.driver_free}});
  }
  return all;
}

Json UpcomingJson(const Circumstances& program) {
  if (program.upcoming.empty()) return nullptr;
  uint64_t bytes = 0;
  for (const uint64_t request : program.upcoming) bytes += request;
  return {{"what", program.upcoming_of}, {"requests", program.upcoming.size()}, {"bytes", bytes}};
}

Json HoldersJson(const std::vector<Holder>& holders) {
  Json all = Json::array();
  for (const Holder& holder : holders) {
    all.push_back({{"title", holder.title},
                   {"category", holder.category.empty() ? Json(nullptr) : Json(holder.category)},
                   {"bytes", holder.bytes},
                   {"blocks", holder.blocks}});
  }
  return all;
}

}  // namespace

std::string ToJson(const Subject& subject, const Autopsy& autopsy, int indent) {
  Json document = {{"schema_version", 1},
                   {"source", subject.source},
                   {"device", subject.device},
                   {"process", OrNull(subject.pid)},
                   {"rank", OrNull(subject.rank)},
                   {"others", subject.others},
                   {"settings", subject.history.settings},
                   {"failures", autopsy.failures},
                   {"request", RequestJson(subject, autopsy)},
                   {"verdict", VerdictKey(autopsy.verdict)},
                   {"verdict_sentence", VerdictSentence(autopsy)},
                   {"allocator_verdict", VerdictKey(autopsy.of_allocator)},
                   {"shortfall_bytes", autopsy.shortfall},
                   {"growth", growth::ToJson(autopsy.program.growth)},
                   {"steps_more", autopsy.program.growth.empty() ? Json(nullptr) : Json(autopsy.steps_more)},
                   {"left_by_failures_bytes", autopsy.program.left_by_failures},
                   {"upcoming", UpcomingJson(autopsy.program)},
                   {"free", autopsy.state.has_value() ? FreeJson(autopsy) : Json(nullptr)},
                   {"reasons", autopsy.reasons},
                   {"reproduced", OrNull(autopsy.reproduced)},
                   {"trials", TrialsJson(autopsy.trials)},
                   {"state", autopsy.state.has_value() ? MomentJson(subject, *autopsy.state) : Json(nullptr)},
                   {"segments", SegmentsJson(subject, autopsy.blockers)},
                   {"holders", HoldersJson(autopsy.holders)},
                   {"advice", autopsy.advice},
                   {"unknown", autopsy.unknown}};
  return text::Dump(document, indent);
}

}  // namespace vramscope::fragmentation
