// SPDX-License-Identifier: Apache-2.0
// DDP's buckets for parameters that share one block: the weights of a recurrent network with cuDNN.
//
//   backward    bias 2 KiB ─ head 1,000 KiB ─ [ 4 MiB | 4 MiB | 8 KiB ]
//
// Buckets from 1 MiB, and from 25 MiB.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;
using testing::ElementsAre;

constexpr uint64_t kFloatBytes = 4, kMatrix = 1 << 20;  // bytes, elements

class ShardBucketsTest : public testing::Test, protected WrittenStep {
 protected:
  // A parameter whose gradient autograd accumulates at that moment, in parts with these numbers of elements.
  void Trained(const char* name, Position at, const std::vector<uint64_t>& parts, bool apart = true) {
    const BlockIndex parameter = AddBlock(kBefore, kForever), gradient = AddBlock(at, 290);
    uint64_t offset = 0, elements = 0;
    for (const uint64_t part : parts) {
      step_.ops[Call("torch::autograd::AccumulateGrad", {}, at + 1, at + 2)].input_count = 1;
      Operand operand;
      operand.op = OpIndex(step_.ops.size() - 1);
      operand.block = gradient, operand.dtype = 6, operand.offset = apart ? offset : 0;
      operand.shape = Shaped({static_cast<int64_t>(part)});
      step_.operands.push_back(operand);
      offset += part, elements += part, at += 2;
    }
    for (const BlockIndex block : {parameter, gradient}) {
      step_.blocks[block].requested = elements * kFloatBytes;
      step_.blocks[block].name = name;
    }
    step_.blocks[parameter].category = Category::kParameter;
    step_.blocks[gradient].category = Category::kGradient;
    step_.blocks[gradient].accumulated = at;
    step_.trained.push_back(parameter);
  }

  [[nodiscard]] std::vector<uint64_t> Buckets() const {
    std::vector<uint64_t> buckets;
    for (const StepBlock& block : Replicated(step_, false).blocks)
      if (block.category == Category::kCommunication) buckets.push_back(block.requested / kFloatBytes);
    return buckets;
  }
};

TEST_F(ShardBucketsTest, AreFilledWithPartsOfABlockOneByOne) {
  Trained("bias", 110, {512});
  Trained("head", 120, {256'000});
  Trained("weights", 130, {kMatrix, kMatrix, 2048});
  EXPECT_THAT(Buckets(), ElementsAre(512 + 256'000 + kMatrix, kMatrix + 2048));
}

TEST_F(ShardBucketsTest, OfAGradientThatIsTakenTwiceThereIsRoomForOne) {
  Trained("bias", 110, {512});
  Trained("head", 120, {kMatrix / 2, kMatrix / 2}, false);
  EXPECT_THAT(Buckets(), ElementsAre(512 + kMatrix));
}

}  // namespace
}  // namespace vramscope::whatif
