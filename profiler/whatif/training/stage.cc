// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/stage.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr int kMoments = 256;  // of a call, one after the other

}  // namespace

Position Stage::Tick() { return time_.begin + (time_.end - time_.begin) * ++ticks_ / kMoments; }

uint32_t Stage::Take(uint64_t bytes, Grows grows) {
  StepBlock block;
  block.id = kNone;
  block.requested = bytes;
  block.begin = Tick();
  block.end = time_.end - kHair;
  block.op = op_;
  block.stream = stream_;
  block.grows = grows;
  block.category = forward_ ? Category::kTemporaryForward : Category::kTemporaryBackward;
  step_.blocks.push_back(block);
  return static_cast<uint32_t>(step_.blocks.size() - 1);
}

void Stage::Deliver(uint32_t block) {
  step_.blocks[block].begin = Tick();
  step_.blocks[block].op = op_;
}

void Stage::Workspace(uint64_t bytes) {
  if (bytes == 0) return;
  const uint32_t block = Take(bytes);
  step_.blocks[block].workspace = true;
  step_.blocks[block].category = Category::kWorkspace;
  Free(block);
}

}  // namespace vramscope::whatif
