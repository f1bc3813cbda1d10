// SPDX-License-Identifier: Apache-2.0
// A mask [15, 15] of a table whose rows have 16 elements, under autocast: the oracle is what PyTorch 2.15
// asked for in open_clip's MaMMUT.
#include "profiler/whatif/attention/filled_masks.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Bytes of what attention is given in the place of the mask; 0: what autocast made.
uint64_t Filled(const View& mask, bool converted, const char* kernel) {
  model::Run run;
  run.streams.push_back(0);
  Step bare = BareStep(&run);
  bare.length = 300;
  Inserter into(bare, {});
  StepBlock block;
  block.begin = 1, block.end = 200, block.requested = 16 * 16 * 4;
  const uint32_t table = into.AddBlock(block);
  Operand given = Viewed(into, table, mask, kFloatType);
  given.argument = 3;
  const uint32_t attention =
      into.Begin("aten::scaled_dot_product_attention", kNone, kNone, 10, {{}, {}, {}, given});
  const uint32_t inner = into.Begin(kernel, attention, kNone, 12, {});
  into.End(inner, 18, {}), into.End(attention, 19, {});
  const Step step = std::move(into).Finish();
  Versions versions(step, kFloatType);
  versions.Decide(table, kFloatType);
  if (converted) versions.Cast(table, kBfloat16Type, 10.05, attention, given);
  const uint32_t made = versions.Current(table);
  FilledMasks masks(step, versions);
  masks.Begin(step.ops[inner]);
  const uint32_t filled = versions.Current(table);
  masks.End(step.ops[inner]), masks.End(step.ops[attention]);
  EXPECT_EQ(versions.Current(table), made) << "nobody else sees it";
  return filled == made ? 0 : versions.BytesOfVersion(filled);
}

TEST(FilledMasksTest, ACopyWhoseRowsDoNotBeginAtWholeMultiplesIsFilledUp) {
  constexpr const char* kEfficient = "aten::_scaled_dot_product_efficient_attention";
  const View mask = {{1, 1, 15, 15}, {256, 256, 16, 1}};
  EXPECT_EQ(Filled(mask, true, kEfficient), 15u * 16 * 2);
  EXPECT_EQ(Filled(mask, false, kEfficient), 0u) << "it is taken as it lies";
  EXPECT_EQ(Filled(mask, true, "aten::_scaled_dot_product_attention_math"), 0u);
  EXPECT_EQ(Filled({{1, 1, 15, 15}, {225, 225, 15, 1}}, true, kEfficient), 0u) << "it was in float32, too";
  EXPECT_EQ(Filled({{1, 1, 15, 16}, {256, 256, 16, 1}}, true, kEfficient), 0u);
}

}  // namespace
}  // namespace vramscope::whatif
