// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision_moments.h"

#include <algorithm>

namespace vramscope::whatif {

std::vector<Moment> MomentsOf(const Step& step) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    moments.push_back({step.ops[i].begin, What::kOpBegin, i});
    if (step.ops[i].end < kForever) moments.push_back({step.ops[i].end, What::kOpEnd, i});
  }
  for (uint32_t i = 0; i < step.nodes.size(); ++i) {
    if (step.nodes[i].begin >= kForever) continue;
    moments.push_back({step.nodes[i].begin, What::kNodeBegin, i});
    if (step.nodes[i].end < kForever) moments.push_back({step.nodes[i].end, What::kNodeEnd, i});
  }
  for (uint32_t i = 0; i < step.saved.size(); ++i) moments.push_back({step.saved[i].at, What::kSaved, i});
  std::sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) { return a.at < b.at; });
  return moments;
}

}  // namespace vramscope::whatif
