// SPDX-License-Identifier: Apache-2.0
// DistributedDataParallel's buckets (torch/csrc/distributed/c10d/reducer.cpp) and ZeroRedundancyOptimizer's
// partition (torch/distributed/optim/zero_redundancy_optimizer.py).
#include <algorithm>
#include <map>

#include "profiler/whatif/parameters.h"
#include "profiler/whatif/shard.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kFirstBucket = 1ull << 20;  // kDefaultFirstBucketBytes
constexpr uint64_t kBucket = 25ull << 20;      // kDefaultBucketBytesCap
constexpr Position kHair = 1e-6;

// Blocks that autograd took as gradients in the step, in that order.
std::vector<uint32_t> GradientsInOrder(const Step& step) {
  std::vector<uint32_t> gradients;
  for (uint32_t i = 0; i < step.blocks.size(); ++i) {
    if (step.blocks[i].accumulated < kForever) gradients.push_back(i);
  }
  std::sort(gradients.begin(), gradients.end(),
            [&](uint32_t a, uint32_t b) { return step.blocks[a].accumulated < step.blocks[b].accumulated; });
  return gradients;
}

void AddBucket(uint64_t bytes, uint32_t like, Step& changed) {
  StepBlock bucket;
  bucket.id = kNone;
  bucket.requested = bytes;
  bucket.copy_of = like;
  bucket.stream = changed.blocks[like].stream;
  bucket.category = Category::kCommunication;
  changed.blocks.push_back(bucket);
}

}  // namespace

Step Replicated(const Step& step, bool as_views) {
  Step changed = step;
  uint64_t filled = 0;
  uint64_t limit = kFirstBucket;
  uint32_t like = kNone;
  for (const uint32_t gradient : GradientsInOrder(step)) {
    filled += step.blocks[gradient].requested;
    like = gradient;
    if (as_views) {
      changed.blocks[gradient].end = step.blocks[gradient].accumulated + kHair;
      changed.blocks[gradient].accumulated = kForever;
    }
    if (filled < limit) continue;
    AddBucket(filled, like, changed);
    filled = 0;
    limit = kBucket;
  }
  if (filled != 0) AddBucket(filled, like, changed);
  return changed;
}

Step WithOwnState(const Step& step, uint32_t ranks) {
  std::vector<uint32_t> by_size = step.trained;
  std::stable_sort(by_size.begin(), by_size.end(), [&](uint32_t a, uint32_t b) {
    return step.blocks[a].requested > step.blocks[b].requested;
  });
  std::vector<uint64_t> load(ranks, 0);
  std::map<uint32_t, size_t> owner;
  for (const uint32_t parameter : by_size) {
    const auto least = std::min_element(load.begin(), load.end());
    owner[parameter] = static_cast<size_t>(least - load.begin());
    *least += step.blocks[parameter].requested;
  }
  const auto most = std::max_element(load.begin(), load.end());
  const auto rank = static_cast<size_t>(most - load.begin());
  Step changed = step;
  StepOnly([&](uint32_t parameter) { return owner[parameter] == rank; }, changed);
  return changed;
}

}  // namespace vramscope::whatif
