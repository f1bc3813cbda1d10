// SPDX-License-Identifier: Apache-2.0
// Sines and cosines of 32 features in one table that the model keeps, with 32 tokens: the oracle is timm's
// Perception Encoder, whose patches have places of their own.
#include "profiler/whatif/sizes/chunked.h"

#include <gtest/gtest.h>

#include "profiler/whatif/sizes/sequence.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// What is made of the first half of a table [16, 64], which `cut` has taken of it: from one token to the
// next.
uint64_t Stride(const char* cut) {
  constexpr uint32_t kTable = 1, kCosines = 2;  // blocks, behind the ids
  model::Run run;
  const Step bare = BareStep(&run);
  Inserter into(bare, {});
  StepBlock block;
  block.category = classify::Category::kInput;
  (void)into.AddBlock(block);
  block.category = classify::Category::kBuffer;
  block.requested = 16 * 64 * 4;
  (void)into.AddBlock(block);
  block.category = classify::Category::kTemporaryForward;
  block.begin = 6;
  (void)into.AddBlock(block);
  const View ids{{4, 32}, {32, 1}}, table{{16, 64}, {64, 1}}, half{{16, 32}, {64, 1}},
      made{{16, 32}, {32, 1}};
  const auto first = [&] { return Viewed(into, kTable, half, kFloat); };
  Operand second = first();
  second.offset = 32;
  const uint32_t look = into.Begin("aten::view", kNone, kNone, 1, {Viewed(into, 0, ids, kLong)});
  into.End(look, 2, {});
  const uint32_t piece = into.Begin(cut, kNone, kNone, 3, {Viewed(into, kTable, table, kFloat)});
  into.End(piece, 4, {first(), second});
  const uint32_t make = into.Begin("aten::cos", kNone, kNone, 5, {first()});
  into.End(make, 7, {Viewed(into, kCosines, made, kFloat)});
  const Step step = std::move(into).Finish();
  EXPECT_EQ(FindChunked(step).size(), std::string_view(cut) == "aten::chunk") << cut;
  return FollowSequence(step).value().stride[kCosines];
}

TEST(ChunkedTest, ATableInSoManyPartsIsNotCutToTheTokens) {
  EXPECT_EQ(Stride("aten::slice"), 1u);
  EXPECT_EQ(Stride("aten::chunk"), 0u);
}

}  // namespace
}  // namespace vramscope::whatif
