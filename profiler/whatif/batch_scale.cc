// SPDX-License-Identifier: Apache-2.0
// Other sizes for the blocks that the batch reaches.
#include <unordered_map>

#include "profiler/whatif/batch_axis.h"

namespace vramscope::whatif {
namespace {

// Partial sums that the recorded step did not need.
void AddScratch(const Step& step, const BatchReduction& reduction, uint64_t bytes, Scene& scene) {
  constexpr Position kBegin = 0.5, kEnd = 0.25;  // before the end of its operator
  const Op& op = step.ops[reduction.op];
  Block block;
  block.begin = op.end - kBegin;
  block.end = op.end - kEnd;
  block.bytes = bytes;
  block.category = op.node == model::kNone ? classify::Category::kTemporaryForward
                                           : classify::Category::kTemporaryBackward;
  scene.blocks.push_back(block);
}

}  // namespace

void ScaleBatch(const Step& step, const BatchAxis& axis, int64_t wanted, Scene& scene) {
  const auto from = static_cast<uint64_t>(axis.batch);
  const auto to = static_cast<uint64_t>(wanted);
  std::unordered_map<uint32_t, uint64_t> scratch;
  for (const BatchReduction& one : axis.reductions) {
    const uint64_t bytes = ScratchOf(WithBatch(one.reduction, wanted), axis.device);
    if (one.block != model::kNone)
      scratch[one.block] = bytes;
    else if (bytes != 0)
      AddScratch(step, one, bytes, scene);
  }
  for (Block& block : scene.blocks) {
    if (block.origin == model::kNone) continue;
    if (const auto found = scratch.find(block.origin); found != scratch.end()) {
      block.bytes = found->second;
    } else if (axis.stride[block.origin] != 0) {
      // Whole samples, and what is beyond them (an allocator's slack where the request is not known) stays.
      block.bytes = block.bytes / from * to + block.bytes % from;
    }
  }
}

}  // namespace vramscope::whatif
