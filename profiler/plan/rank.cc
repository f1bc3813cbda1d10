// SPDX-License-Identifier: Apache-2.0
#include "profiler/plan/rank.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace vramscope::plan {
namespace {

// In order of depth; levers that are not listed are as deep as amp.
constexpr std::array<std::string_view, 7> kByDepth = {"alloc-conf", "empty-cache", "optimizer", "checkpoint",
                                                      "accumulate", "batch",       "amp"};
constexpr size_t kAmp = 6;
constexpr size_t kOtherOptimizer = 7;

// True if the update rule is the recorded one.
bool SameOptimizer(const whatif::Step& step, std::string_view value) {
  std::string recorded = step.optimizer_class;
  std::transform(recorded.begin(), recorded.end(), recorded.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return value.substr(0, value.find(':')) == recorded;
}

size_t DepthOf(const whatif::Step& step, const whatif::Asked& change) {
  if (change.lever == "optimizer" && !SameOptimizer(step, change.value)) return kOtherOptimizer;
  const auto found = std::find(kByDepth.begin(), kByDepth.end(), change.lever);
  return found == kByDepth.end() ? kAmp : static_cast<size_t>(found - kByDepth.begin());
}

}  // namespace

Rank RankOf(const whatif::Step& step, std::span<const whatif::Asked> changes, double extra_ns) {
  Rank rank{false, extra_ns, 0, 0};
  for (const whatif::Asked& change : changes) {
    const size_t depth = DepthOf(step, change);
    rank.depth += uint64_t{1} << depth;
    rank.open |= depth >= kOtherOptimizer;
    if (change.lever == "checkpoint")
      rank.modules += 1 + static_cast<size_t>(std::count(change.value.begin(), change.value.end(), ','));
  }
  return rank;
}

}  // namespace vramscope::plan
