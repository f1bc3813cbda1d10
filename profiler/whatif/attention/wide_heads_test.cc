// SPDX-License-Identifier: Apache-2.0
// Attention with heads wider than 128, in steps put together by hand. The oracle of the workspaces is what
// PyTorch 2.15 asked for in backward of memory-efficient attention with heads of 512.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/precision/kernels.h"
#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::ElementsAre;
using testing::IsEmpty;

AttentionCall Heads(int64_t heads, int64_t rows, int64_t width, uint64_t element) {
  AttentionCall call;
  call.heads = call.key_heads = heads;
  call.rows = call.columns = rows;
  call.width = width, call.element = element;
  return call;
}

TEST(WideHeadsTest, FloatsAreTilesBesideEachOther) {
  EXPECT_EQ(EfficientWorkspace(Heads(32, 96, 512, 4)), 8'392'704u);
  EXPECT_EQ(EfficientWorkspace(Heads(32, 256, 512, 4)), 16'785'408u);
  EXPECT_EQ(EfficientWorkspace(Heads(16, 32, 512, 4)), 4'196'352u);
}

TEST(WideHeadsTest, SixteenBitsSumGradientsOfKeysAndValuesInFloatToo) {
  EXPECT_EQ(EfficientWorkspace(Heads(32, 96, 512, 2)), 25'169'920u);
  EXPECT_EQ(EfficientWorkspace(Heads(32, 256, 512, 2)), 50'339'840u);
  EXPECT_EQ(EfficientWorkspace(Heads(16, 32, 512, 2)), 8'390'656u);
}

// Of two samples of three heads with 200 rows: what PyTorch 2.15 asked for with heads that are so wide.
TEST(WideHeadsTest, TilesAreHalfAsWideForGradientsOfQueriesAsForTheOthers) {
  struct Asked {
    int64_t width;
    uint64_t single, low, flash;
  };
  for (const auto& [width, single, low, flash] :
       {Asked{136, 1'180'224, 4'325'952, 1'179'648}, Asked{192, 1'180'224, 4'325'952, 1'179'648},
        Asked{200, 1'573'632, 4'719'360, 1'572'864}, Asked{256, 1'573'632, 4'719'360, 1'572'864},
        Asked{264, 1'967'040, 6'685'632, 0}, Asked{320, 1'967'040, 6'685'632, 0}}) {
    EXPECT_EQ(EfficientWorkspace(Heads(6, 200, width, 4)), single) << width;
    EXPECT_EQ(EfficientWorkspace(Heads(6, 200, width, 2)), low) << width;
    if (flash != 0) EXPECT_EQ(FlashNeedsOf(Heads(6, 200, width, 2), 108).queries, flash) << width;
  }
}

// Gemma 4's full attention with 8 and with 16 samples: 200 sums at most stand beside each other.
TEST(WideHeadsTest, ManyHeadsShareTheDeviceSoThatFewerSumsStandBesideEachOther) {
  EXPECT_EQ(EfficientWorkspace(Heads(64, 256, 512, 2)), 83'902'464u);
  const auto sums = [](int64_t heads, int64_t rows) {  // for each head, blocks of 64 columns
    const AttentionCall low = Heads(heads, rows, 512, 2), wide = Heads(heads, rows, 512, 4);
    return (EfficientWorkspace(low) - EfficientWorkspace(wide)) / (low.Heads() * 2 * 64 * 512 * 4);
  };
  EXPECT_EQ(sums(32, 256), 4u);
  EXPECT_EQ(sums(32, 1024), 6u);
  EXPECT_EQ(sums(400, 1024), 1u);
}

TEST(WideHeadsTest, ThatShowsWithAnotherBatch) {
  model::Run run;
  const auto with_16 = [&](int64_t width, uint64_t element) {
    Step bare;
    bare.run = &run;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    std::vector<Operand> given(3);
    for (uint16_t i = 0; i < 3; ++i) {
      given[i].block = into.AddBlock({}), given[i].dtype = kFloatType, given[i].argument = i;
      given[i].shape = into.ShapeOf({8, 256, 4, width});
    }
    StepBlock work;
    work.op = into.Begin("aten::_efficient_attention_backward", kNone, kNone, 1, given);
    work.requested = EfficientWorkspace(Heads(32, 256, width, element));
    const uint32_t block = into.AddBlock(work);
    into.End(work.op, 2, {});
    return WorkspaceWithBatch(std::move(into).Finish(), block, 8, 16);
  };
  EXPECT_EQ(with_16(512, 2), 83'902'464u);
  EXPECT_FALSE(with_16(512, 4)) << "floats need no sums beside";
  EXPECT_FALSE(with_16(64, 2)) << "nor do narrow heads";
}

// Of [4, 300, 4, 48] with 512 columns PyTorch 2.15 asks for 38,400 and 2,457,600 bytes on an A100.
TEST(FlashSharesTest, TheyVanishOnceRowsFillTheDevice) {
  model::Run run;
  const auto with = [&](uint64_t recorded, int64_t batch) {
    Step bare;
    bare.run = &run;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    std::vector<Operand> given(2);
    for (uint16_t i = 0; i < 2; ++i) {
      given[i].block = into.AddBlock({}), given[i].dtype = kFloatType, given[i].argument = i;
      given[i].shape = into.ShapeOf({4, i == 0 ? 300 : 512, 4, 48});
    }
    StepBlock share;
    share.op = into.Begin("aten::_efficient_attention_forward", kNone, kNone, 1, given);
    share.requested = recorded;
    const uint32_t block = into.AddBlock(share);
    into.End(share.op, 2, {});
    return WorkspaceWithBatch(std::move(into).Finish(), block, 4, batch);
  };
  EXPECT_EQ(with(38'400, 4), 38'400u);
  EXPECT_EQ(with(2'457'600, 4), 2'457'600u);
  EXPECT_EQ(with(38'400, 8), 0u);
  EXPECT_EQ(with(2'457'600, 8), 0u);
  EXPECT_FALSE(with(921'600, 8)) << "the result grows as others do";
}

// [1, 64, 4, width] in 16 bits: batch, rows, heads, width.
constexpr int64_t kRowsOfHead = 64, kHeadsOfRow = 4;
constexpr uint64_t kRowsOfAll = kRowsOfHead * kHeadsOfRow;
constexpr uint32_t kQuery = 0, kResult = 4, kSums = 5, kSeed = 6, kOffset = 7;
constexpr uint64_t kRecorded = 8192;  // what each of the blocks took
constexpr Position kBegin = 10, kEnd = 19, kSeedsMade = 10.5, kResultMade = 11, kSumsMade = 12;

// What a lever changes: blocks that were there have the same numbers, what it adds comes behind them.
struct Changed {
  Step step;
  std::vector<StepBlock> added;
  [[nodiscard]] std::vector<uint64_t> Bytes() const {
    std::vector<uint64_t> bytes;
    for (const StepBlock& block : added) bytes.push_back(block.requested);
    return bytes;
  }
};

class Written {
 public:
  Written(const char* name, int64_t width) {
    step_.own_texts = std::make_shared<std::deque<std::string>>(1, name);
    const std::string dims =
        "1," + std::to_string(kRowsOfHead) + "," + std::to_string(kHeadsOfRow) + "," + std::to_string(width);
    step_.shapes = {{}, ParseShape(dims, step_.dims)};
    step_.ops.emplace_back();
    step_.ops[0].name = Step::kFirstOwnText, step_.ops[0].begin = kBegin, step_.ops[0].end = kEnd;
  }
  uint32_t Block(Position begin) {
    StepBlock& block = step_.blocks.emplace_back();
    block.requested = kRecorded;
    block.begin = begin, block.end = 100;
    return static_cast<uint32_t>(step_.blocks.size() - 1);
  }
  void Add(uint32_t block, uint16_t argument, bool result) {
    Operand& operand = step_.operands.emplace_back();
    operand.block = block, operand.argument = argument, operand.shape = 1, operand.dtype = kFloatType;
    Op& op = step_.ops[0];
    ++(result ? op.output_count : op.input_count);
    op.first_output = op.input_count;
  }
  // `low`: so many blocks are 16 bits, and the last ones not.
  Changed Change(size_t low) {
    std::vector<bool> retyped(step_.blocks.size(), false);
    std::fill_n(retyped.begin(), low, true);
    Changed changed{step_, {}};
    ChangeKernels(step_, retyped, changed.step);
    changed.added.assign(changed.step.blocks.begin() + static_cast<ptrdiff_t>(step_.blocks.size()),
                         changed.step.blocks.end());
    return changed;
  }

  Step step_;
};

// query, key, value, mask -> result, sums of rows, seed, offset
Changed Forward(int64_t width, bool masked = false, bool gradients = true) {
  Written written("aten::_efficient_attention_forward", width);
  for (const uint16_t argument : {0, 1, 2, 3}) {
    const uint32_t block = written.Block(1);
    if (argument < 3 || masked) written.Add(block, argument, false);
  }
  for (const Position made : {kResultMade, kSumsMade, kSeedsMade, kSeedsMade}) {
    const uint32_t block = written.Block(made);
    written.Add(block == kSums && !gradients ? kNone : block, static_cast<uint16_t>(block - kResult), true);
  }
  return written.Change(kSums);
}

TEST(WideHeadsTest, ForwardOfMemoryEfficientAttentionStaysAndSumsInFloat) {
  const Changed changed = Forward(512);
  ASSERT_THAT(changed.Bytes(), ElementsAre(kRowsOfAll * 512 * 4)) << "as many elements as the result";
  EXPECT_GT(changed.added[0].begin, kSumsMade);
  EXPECT_LT(changed.added[0].end, kEnd);
  EXPECT_EQ(changed.step.blocks[kSums].requested, kRecorded) << "with its padding";
  EXPECT_EQ(changed.step.blocks[kSeed].begin, kSeedsMade);
}

TEST(WideHeadsTest, HeadsUpTo256BecomeFlashAttention) {
  for (const int64_t width : {128, 192, 256}) {
    const Changed changed = Forward(width);
    EXPECT_THAT(changed.Bytes(), IsEmpty()) << width;
    EXPECT_EQ(changed.step.blocks[kSums].requested, kRowsOfAll * 4) << width;
    EXPECT_GT(changed.step.blocks[kSeed].begin, kSumsMade) << width;
  }
}

TEST(WideHeadsTest, WithAMaskHeadsOfOneTileNeedNoSum) {
  EXPECT_THAT(Forward(128, true).Bytes(), IsEmpty());
  EXPECT_THAT(Forward(256, true).Bytes(), ElementsAre(kRowsOfAll * 256 * 4));
  EXPECT_EQ(Forward(256, true).step.blocks[kSums].requested, kRecorded);
}

// As in torch.no_grad(), where memory-efficient attention computes no sums of rows.
TEST(WideHeadsTest, WithoutGradientsFlashAttentionSumsRowsBehindItsResult) {
  const Changed changed = Forward(64, false, false);
  ASSERT_THAT(changed.Bytes(), ElementsAre(kRowsOfAll * 4));
  EXPECT_GT(changed.added[0].begin, kResultMade);
  EXPECT_LT(changed.added[0].end, kEnd) << "nothing keeps them";
  EXPECT_GT(changed.step.blocks[kOffset].begin, changed.added[0].begin);
  EXPECT_GT(changed.step.blocks[kSeed].begin, changed.step.blocks[kOffset].begin);
}

TEST(WideHeadsTest, WithoutGradientsWhatStaysKeepsItsSeeds) {
  const Changed masked = Forward(64, true, false), wide = Forward(512, false, false);
  EXPECT_THAT(masked.Bytes(), IsEmpty());
  EXPECT_THAT(wide.Bytes(), ElementsAre(kRowsOfAll * 512 * 4)) << "sums in float with or without gradients";
  for (const Changed* changed : {&masked, &wide}) {
    EXPECT_EQ(changed->step.blocks[kSeed].begin, kSeedsMade);
    EXPECT_EQ(changed->step.blocks[kOffset].begin, kSeedsMade);
  }
}

// Queries whose heads lie one after the other, of which flash attention makes its result; then
// attended.reshape(1, rows, heads * width).
class JoinedHeads : protected WrittenStep {
 public:
  [[nodiscard]] bool AreCopied(int64_t width) {
    const int64_t row = kHeadsOfRow * width;
    const uint32_t query = AddBlock(1, 90), attended = AddBlock(12, 90);
    Call("aten::_efficient_attention_forward", kNone, kBegin, kEnd);
    Add(query, {1, kRowsOfHead, kHeadsOfRow, width}, {kRowsOfHead * row, width, kRowsOfHead * width, 1},
        false);
    Add(attended, {1, kRowsOfHead, kHeadsOfRow, width}, {kRowsOfHead * row, row, width, 1}, true);
    Call("aten::reshape", kNone, 20, 22);
    Add(attended, {1, kRowsOfHead, kHeadsOfRow, width}, {kRowsOfHead * row, row, width, 1}, false);
    Add(attended, {1, kRowsOfHead, row}, {kRowsOfHead * row, row, 1}, true);
    Versions versions(step_, kBfloat16Type);
    versions.Decide(attended, kBfloat16Type);
    HeadsFirst heads_first(step_, kBfloat16Type, versions);
    heads_first.End(step_.ops[0]);
    heads_first.Begin(step_.ops[1]);
    return versions.IsCopy(attended);
  }

 private:
  void Add(uint32_t block, const std::vector<int64_t>& sizes, const std::vector<int64_t>& strides,
           bool result) {
    Operand& operand = step_.operands.emplace_back();
    operand.op = static_cast<uint32_t>(step_.ops.size() - 1);
    operand.block = block, operand.dtype = kFloatType;
    operand.shape = Shaped(sizes), operand.strides = Shaped(strides);
    Op& op = step_.ops.back();
    ++(result ? op.output_count : op.input_count);
    op.first_output = op.first_input + op.input_count;
  }
};

TEST(WideHeadsTest, OnlyFlashAttentionReturnsHeadsOneAfterTheOther) {
  EXPECT_TRUE(JoinedHeads().AreCopied(256)) << "where they are put beside each other";
  EXPECT_FALSE(JoinedHeads().AreCopied(512));
}

// gradient, query, key, value -> gradients; a block that it works in. `strides` are of the query.
Changed Backward(int64_t width, const char* strides = nullptr) {
  Written written("aten::_efficient_attention_backward", width);
  written.step_.nodes.emplace_back();
  written.step_.ops[0].node = 0;
  for (const uint16_t argument : {0, 1, 2, 3}) written.Add(written.Block(1), argument, false);
  if (strides != nullptr) {
    written.step_.operands[1].strides = static_cast<uint32_t>(written.step_.shapes.size());
    written.step_.shapes.push_back(ParseShape(strides, written.step_.dims));
  }
  written.Add(written.Block(kResultMade), 0, true);
  written.step_.blocks[written.Block(kSumsMade)].op = 0;
  return written.Change(6);
}

TEST(WideHeadsTest, BackwardOfMemoryEfficientAttentionStaysWithItsWorkspace) {
  const Changed changed = Backward(512);
  EXPECT_THAT(changed.Bytes(),
              ElementsAre(kRowsOfAll * 4, EfficientWorkspace(Heads(kHeadsOfRow, kRowsOfHead, 512, 2))));
  EXPECT_EQ(changed.step.blocks.at(5).requested, 0u) << "what float32 works in";
}

TEST(WideHeadsTest, BackwardUpTo256IsThatOfFlashAttention) {
  for (const int64_t width : {128, 256}) {
    const FlashNeeds needs = FlashNeedsOf(Heads(kHeadsOfRow, kRowsOfHead, width, 2), 108);
    EXPECT_THAT(Backward(width).Bytes(), ElementsAre(needs.sums, needs.queries)) << width;
  }
}

TEST(WideHeadsTest, FlashAttentionCopiesAResultThatDoesNotLieRowByRow) {
  const auto copies = [](const char* strides) { return Backward(64, strides).added.size() - 2; };
  EXPECT_EQ(copies("16384,256,64,1"), 0u);
  EXPECT_EQ(copies("49152,768,64,1"), 0u) << "queries are a part of wider rows; the result is not";
  EXPECT_EQ(copies("16384,64,4096,1"), 1u) << "head by head";
}

}  // namespace
}  // namespace vramscope::whatif
