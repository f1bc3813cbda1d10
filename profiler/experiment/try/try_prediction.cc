// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/try/try_prediction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "profiler/experiment/recorded_step.h"

namespace vramscope::experiment {
namespace {

// The change in whatif's form; the error names the part that has no lever.
Result<std::vector<whatif::Asked>> AskedFor(const Change& change) {
  std::vector<whatif::Asked> asked;
  if (!change.amp.empty()) asked.push_back({"amp", change.amp});
  if (!change.checkpoint.empty())
    asked.push_back({"checkpoint", fmt::format("{}", fmt::join(change.checkpoint, ","))});
  if (!change.offload.empty()) asked.push_back({"offload", change.offload});
  if (change.lora.rank != 0) asked.push_back({"lora", change.lora.Text()});
  if (!change.freeze.empty()) asked.push_back({"freeze", fmt::format("{}", fmt::join(change.freeze, ","))});
  if (!change.attention.empty()) asked.push_back({"attention", change.attention});
  if (!change.cross_entropy.empty()) asked.push_back({"cross-entropy", change.cross_entropy});
  if (change.batch_factor) asked.push_back({"batch", fmt::format("{}x", *change.batch_factor)});
  if (change.batch_size) asked.push_back({"batch", fmt::format("{}", *change.batch_size)});
  if (!change.optimizer.empty()) {
    const std::string way = change.implementation == "loop" ? "for-loop" : change.implementation;
    asked.push_back({"optimizer", change.optimizer + (way.empty() ? "" : ":" + way)});
  }
  if (change.zero_grad_to_none.value_or(false))
    return Error{"gradients that zero_grad() frees are not predicted."};
  if (change.zero_grad_to_none) asked.push_back({"zero-grad", "keep"});
  if (!change.empty_cache.empty()) asked.push_back({"empty-cache", change.empty_cache});
  if (change.alloc_conf) asked.push_back({"alloc-conf", *change.alloc_conf});
  if (change.accumulate != 0) asked.push_back({"accumulate", fmt::format("{}", change.accumulate)});
  for (const auto& [lever, value] : change.beyond) asked.push_back({lever, value});
  return asked;
}

}  // namespace

Predicted PredictChange(const Change& change, const std::string& trace) {
  Predicted predicted;
  const Result<std::vector<whatif::Asked>> asked = AskedFor(change);
  const auto recorded = ReadRecordedStep(trace, model::LoadFile(trace), {});
  if (!asked.ok() || !recorded.ok()) {
    predicted.why_not = asked.ok() ? recorded.error().sentence : asked.error().sentence;
    return predicted;
  }
  const Result<whatif::Prediction> prediction =
      whatif::Predict((*recorded)->step, (*recorded)->baseline, *asked);
  if (prediction.ok())
    for (const whatif::Applied& applied : prediction->levers)
      predicted.code[applied.asked.lever] = applied.outcome.code;
  if (!prediction.ok() || !prediction->refused.empty()) {
    predicted.why_not = prediction.ok() ? prediction->refused.front().reason : prediction.error().sentence;
    return predicted;
  }
  const whatif::Replayed& after = prediction->after.allocator;
  predicted.allocated_bytes = after.allocated_peak;
  predicted.reserved_bytes = after.reserved_peak;
  predicted.allocated_at_most_bytes = prediction->band.AllocatedAtMost(after.allocated_peak);
  predicted.reserved_at_most_bytes = prediction->band.ReservedAtMost(after.reserved_peak);
  return predicted;
}

}  // namespace vramscope::experiment
