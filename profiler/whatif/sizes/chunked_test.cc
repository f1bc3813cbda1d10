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

struct Table {
  View whole{{16, 64}, {64, 1}}, part{{16, 32}, {64, 1}}, made{{16, 32}, {32, 1}};
};

// What is made of the first part of a table, which `cut` has taken of it: from one token to the next.
uint64_t Stride(const char* cut, const Table& table = {}) {
  constexpr uint32_t kTable = 1, kCosines = 2;  // blocks, behind the ids
  model::Run run;
  const Step bare = BareStep(&run);
  Inserter into(bare, {});
  StepBlock block;
  block.category = classify::Category::kInput;
  (void)into.AddBlock(block);
  block.category = classify::Category::kBuffer;
  block.requested = 4 * static_cast<uint64_t>(table.whole.shape[0] * table.whole.shape[1]);
  (void)into.AddBlock(block);
  block.category = classify::Category::kTemporaryForward;
  block.begin = 6;
  (void)into.AddBlock(block);
  const View ids{{4, 32}, {32, 1}};
  const auto first = [&] { return Viewed(into, kTable, table.part, kFloat); };
  Operand second = first();
  second.offset = 32;
  const uint32_t look = into.Begin("aten::view", kNone, kNone, 1, {Viewed(into, 0, ids, kLong)});
  into.End(look, 2, {});
  const uint32_t piece = into.Begin(cut, kNone, kNone, 3, {Viewed(into, kTable, table.whole, kFloat)});
  into.End(piece, 4, {first(), second});
  const uint32_t make = into.Begin("aten::cos", kNone, kNone, 5, {first()});
  into.End(make, 7, {Viewed(into, kCosines, table.made, kFloat)});
  const Step step = std::move(into).Finish();
  EXPECT_EQ(FindChunked(step).size(), std::string_view(cut) == "aten::chunk") << cut;
  return FollowSequence(step).value().stride[kCosines];
}

TEST(ChunkedTest, ATableInSoManyPartsIsNotCutToTheTokens) {
  EXPECT_EQ(Stride("aten::slice"), 1u);
  EXPECT_EQ(Stride("aten::chunk"), 0u);
}

// Rows and columns of the 32 places that nonzero() found, in what the model keeps.
TEST(ChunkedTest, NorIsWhatWasCutAlongAnotherDimension) {
  EXPECT_EQ(Stride("aten::unbind", {{{32, 2}, {1, 32}}, {{32}, {1}}, {{32}, {1}}}), 0u);
  EXPECT_EQ(Stride("aten::slice", {{{64, 2}, {1, 64}}, {{32}, {1}}, {{32}, {1}}}), 1u) << "along both";
}

}  // namespace
}  // namespace vramscope::whatif
