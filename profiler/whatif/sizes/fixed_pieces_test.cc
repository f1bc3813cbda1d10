// SPDX-License-Identifier: Apache-2.0
// Films whose frames go through a model in pieces, written down by hand.
#include "profiler/whatif/sizes/fixed_pieces.h"

#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/sizes/sample_turns.h"
#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Sizes = std::vector<int64_t>;

// films [4, frames, 8] ─ view [4 * frames, 8] ─ cut into pieces of `rows` each ─ relu, blocks 1, 2, ... ─ cat
class FixedPiecesTest : public testing::Test {
 protected:
  static constexpr int64_t kSamples = 4, kWide = 8;

  enum class Cut : uint8_t { kSplit, kChunk, kSlices };

  [[nodiscard]] Step Write(int64_t frames, const Sizes& rows, Cut cut) {
    Inserter into(BareStep(&run_), {});
    const auto seen = [&](const Sizes& sizes, const Sizes& strides, int64_t before) {
      return Viewed(into, 0, {sizes, strides, static_cast<uint64_t>(before * kWide)}, kFloat);
    };
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    const Operand flat = seen({kSamples * frames, kWide}, {kWide, 1}, 0);
    into.End(into.Begin("aten::view", kNone, kNone, 0,
                        {seen({kSamples, frames, kWide}, {frames * kWide, kWide, 1}, 0)}),
             0.5, {flat});
    std::vector<Operand> pieces;
    int64_t before = 0;
    for (const int64_t of_piece : rows) {
      pieces.push_back(seen({of_piece, kWide}, {kWide, 1}, before));
      before += of_piece;
    }
    Position now = 1;
    if (cut == Cut::kSlices) {
      for (const Operand& piece : pieces) {
        into.End(into.Begin("aten::slice", kNone, kNone, now, {flat}), now + 1, {piece});
        now += 2;
      }
      return Finished(into, pieces, now);
    }
    const uint32_t chunk =
        cut == Cut::kChunk ? into.Begin("aten::chunk", kNone, kNone, now, {flat}) : uint32_t{kNone};
    into.End(into.Begin("aten::split", chunk, kNone, now + 0.25, {flat}), now + 0.5, pieces);
    if (chunk != kNone) into.End(chunk, now + 1, pieces);
    return Finished(into, pieces, now + 2);
  }

  [[nodiscard]] static Step Finished(Inserter& into, const std::vector<Operand>& pieces, Position now) {
    std::vector<Operand> made;
    int64_t all = 0;
    const auto call = [&](const char* name, const std::vector<Operand>& from, int64_t rows) {
      const uint32_t op = into.Begin(name, kNone, kNone, now, from);
      StepBlock block;
      block.begin = now + 0.5, block.end = now + 3, block.op = op;
      block.requested = static_cast<uint64_t>(rows * kWide) * sizeof(float);
      const Operand result = Viewed(into, into.AddBlock(block), {{rows, kWide}, {kWide, 1}}, kFloat);
      into.End(op, now + 1, {result});
      now += 2;
      return result;
    };
    std::vector<int64_t> sizes;
    for (const Operand& piece : pieces) {
      sizes.push_back(static_cast<int64_t>(into.step().Dims(piece.shape)[0]));
      made.push_back(call("aten::relu", {piece}, sizes.back()));
      all += sizes.back();
    }
    call("aten::cat", made, all);
    return std::move(into).Finish();
  }

  [[nodiscard]] static int64_t RowsOf(const Step& step) { return FixedPiecesOf(step).rows; }

 private:
  model::Run run_;
};

TEST_F(FixedPiecesTest, WhereAutogradKeepsPiecesThereIsNoBatchToScale) {
  const Step dropped = Write(5, {8, 8, 4}, Cut::kSplit);
  EXPECT_EQ(RowsOf(dropped), 8);
  EXPECT_TRUE(BatchToScale(dropped).ok());
  Step step = dropped;
  step.saved.push_back({2});
  const Result<const BatchAxis*> axis = BatchToScale(step);
  ASSERT_FALSE(axis.ok());
  EXPECT_NE(axis.error().sentence.find("in pieces of 8 rows"), std::string::npos);
  Scene scene;
  EXPECT_FALSE(BatchLever().Apply(step, "2x", scene).ok());
}

TEST_F(FixedPiecesTest, WhatAPieceDropsIsAsLargeWithMoreSamplesButWhatTheyAreJoinedToGrows) {
  const Step step = Write(5, {8, 8, 4}, Cut::kSplit);
  constexpr uint32_t kFirst = 1, kJoined = 4;
  constexpr uint64_t kRow = kWide * sizeof(float);
  for (const auto& [samples, first, joined] :
       {std::tuple(8, 8, 40), std::tuple(2, 8, 10), std::tuple(1, 5, 5)}) {
    Scene scene;
    for (const uint32_t block : {kFirst, kJoined}) {
      Block& one = scene.blocks.emplace_back();
      one.origin = block, one.bytes = step.blocks[block].requested;
    }
    ScaleBatch(step, *FollowBatch(step), samples, scene);
    EXPECT_EQ(scene.blocks[0].bytes, static_cast<uint64_t>(first) * kRow) << samples;
    EXPECT_EQ(scene.blocks[1].bytes, static_cast<uint64_t>(joined) * kRow) << samples;
  }
}

TEST_F(FixedPiecesTest, FewerRowsThanASampleHasAreNoSample) {
  EXPECT_EQ(RowsOf(Write(9, {8, 8, 8, 8, 4}, Cut::kSplit)), 8);
  EXPECT_EQ(RowsOf(Write(6, {3, 3, 3, 3, 3, 3, 3, 3}, Cut::kSplit)), 3);
}

TEST_F(FixedPiecesTest, WholeSamplesInPiecesThatAreAlikeMayBeAShareOfTheBatch) {
  EXPECT_EQ(RowsOf(Write(5, {10, 10}, Cut::kSplit)), 0);
  EXPECT_EQ(RowsOf(Write(5, {5, 5, 5, 5}, Cut::kSplit)), 0);
  EXPECT_EQ(RowsOf(Write(5, {20}, Cut::kSplit)), 0);
  EXPECT_TRUE(BatchToScale(Write(5, {10, 10}, Cut::kSplit)).ok());
}

TEST_F(FixedPiecesTest, ChunkIsToldHowManyPiecesThereAreToBe) {
  EXPECT_EQ(RowsOf(Write(5, {7, 7, 6}, Cut::kChunk)), 0);
}

TEST_F(FixedPiecesTest, SlicesAreSuchPiecesWhereThreeOrMoreFollowEachOther) {
  EXPECT_EQ(RowsOf(Write(5, {8, 8, 4}, Cut::kSlices)), 8);
  EXPECT_EQ(RowsOf(Write(1, {3, 1}, Cut::kSlices)), 0);
  EXPECT_EQ(RowsOf(Write(5, {8, 8}, Cut::kSlices)), 0);
  EXPECT_EQ(RowsOf(Write(5, {6, 8, 6}, Cut::kSlices)), 0);
}

}  // namespace
}  // namespace vramscope::whatif
