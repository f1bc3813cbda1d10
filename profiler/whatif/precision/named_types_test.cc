// SPDX-License-Identifier: Apache-2.0
// Which type a tensor has that the program makes in the type of another one, under autocast: steps put
// together by hand.
#include <gtest/gtest.h>

#include <utility>

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

// attention: q = linear(x); bias = zeros(..., dtype=q.dtype); q + bias. A mask that the model made before is
// float32, as what it embeds.
class NamedTypeTest : public testing::Test, protected WrittenStep {
 protected:
  [[nodiscard]] uint64_t BytesOfBias(Position attention_begin) {
    Module("model", 2, 70), Module("attention", attention_begin, 60, 0);
    const uint32_t x = AddBlock(5, 160), weight = AddBlock(kBefore, kForever), query = AddBlock(12.5, 150);
    const uint32_t bias = AddBlock(20.5, 150), sum = AddBlock(40.5, 150), node = Node(150);
    Work(12, node, {weight, query}), Work(20, node, {x, bias}), Work(40, node, {query, bias, sum});
    step_.ops[0].name = Text("aten::linear");
    step_.blocks[query].op = 0, step_.blocks[bias].op = 1, step_.blocks[sum].op = 2;
    step_.ops[1].input_count = 0;
    step_.ops[1].dtype = Text("torch.float32");
    step_.ops[2].input_count = 2, ++step_.ops[2].first_output;
    for (Operand& operand : step_.operands) operand.dtype = kFloatType;
    return UnderAutocast(step_, kBfloat16Type).blocks[bias].requested;
  }
};

TEST_F(NamedTypeTest, IsThatOfWhatItMeetsInTheSameModule) { EXPECT_EQ(BytesOfBias(10), 256u); }

TEST_F(NamedTypeTest, IsThatOfTheModelElse) { EXPECT_EQ(BytesOfBias(25), 512u); }

// r = rand(..., dtype=y.dtype); (y / 2) * (r + 0.5).floor(), with y = linear(x)
TEST_F(NamedTypeTest, IsThatOfWhatIsStillToBeMadeForWhatIsMadeOfIt) {
  Module("model", 2, 70), Module("drop", 10, 60, 0);
  const uint32_t x = AddBlock(kBefore, kForever), y = AddBlock(12.5, 150), drawn = AddBlock(20.5, 150);
  const uint32_t whole = AddBlock(30.5, 150), half = AddBlock(40.5, 150), sum = AddBlock(50.5, 150);
  const uint32_t node = Node(150);
  Work(12, node, {x, y}), Work(20, node, {x, drawn}), Work(30, node, {drawn, whole});
  Work(40, node, {y, half}), Work(50, node, {half, whole, sum});
  step_.ops[0].name = Text("aten::linear");
  step_.ops[1].input_count = 0, step_.ops[1].dtype = Text("torch.float32");
  step_.ops[4].input_count = 2, ++step_.ops[4].first_output;
  for (const auto& [block, op] : {std::pair(y, 0u), {drawn, 1u}, {whole, 2u}, {half, 3u}, {sum, 4u}})
    step_.blocks[block].op = op;
  for (Operand& operand : step_.operands) operand.dtype = kFloatType;
  EXPECT_EQ(UnderAutocast(step_, kBfloat16Type).blocks[sum].requested, 256u);
  step_.ops[3].name = Text("aten::exp");
  EXPECT_EQ(UnderAutocast(step_, kBfloat16Type).blocks[drawn].requested, 512u);
}

}  // namespace
}  // namespace vramscope::whatif
