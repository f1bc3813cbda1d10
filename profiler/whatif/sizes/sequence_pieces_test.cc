// SPDX-License-Identifier: Apache-2.0
// Programs that cut their sequence into pieces, or fill it up to one: what is predicted of other lengths, and
// what one length does not tell.
#include <gtest/gtest.h>

#include "profiler/whatif/sizes/sequence.h"

namespace vramscope::whatif {
namespace {

// A program whose sequences have 96 tokens of 8 elements, of 4 samples: what an operator makes of them is a
// view.
struct Cut {
  const char* op;
  const char* from;
  const char* to;
  const char* strides;
  uint64_t offset = 0;
  const char* from_strides = "768,8,1";
  const char* dimension = "";
};
Step StepOf(const std::vector<Cut>& cuts) {
  Step step;
  step.shapes.push_back({});
  step.own_texts = std::make_shared<std::deque<std::string>>();
  step.blocks.resize(2);
  const auto shape = [&](const char* dims) {
    step.shapes.push_back(ParseShape(dims, step.dims));
    return static_cast<uint32_t>(step.shapes.size() - 1);
  };
  for (const Cut& cut : cuts) {
    Op& op = step.ops.emplace_back();
    step.own_texts->emplace_back(cut.op);
    op.name = Step::kFirstOwnText + static_cast<uint32_t>(step.own_texts->size() - 1);
    if (*cut.dimension != '\0') {
      step.own_texts->emplace_back(cut.dimension);
      op.dims = op.name + 1;
    }
    op.first_input = static_cast<uint32_t>(step.operands.size());
    op.first_output = op.first_input + 1;
    op.input_count = op.output_count = 1;
    for (const bool made : {false, true}) {
      Operand& operand = step.operands.emplace_back();
      const char* const dims = made ? cut.to : cut.from;
      operand.block =
          std::string_view(cut.from).starts_with("4,192") || std::string_view(dims).starts_with("4,192");
      operand.dtype = 6;
      operand.shape = shape(dims);
      operand.strides = shape(made ? cut.strides : cut.from_strides);
      operand.offset = made ? cut.offset : 0;
    }
  }
  return step;
}
BatchAxis OfCuts() {
  BatchAxis axis;
  axis.batch = 96;
  axis.stride = {8, 8};
  axis.second = {0, 0};
  axis.beside = {0, 0};
  axis.element = {4, 4};
  return axis;
}
std::string InPieces(const std::vector<Cut>& cuts, int64_t length = 192) {
  return WhyInPieces(StepOf(cuts), OfCuts(), length);
}

// PEGASUS-X: blocks of 32 words; CANINE: a loop over so many letters.
TEST(SequencePiecesTest, OneLengthDoesNotTellHowOthersAreCutIntoPieces) {
  EXPECT_EQ(
      InPieces({{"aten::view", "4,96,8", "4,3,32,8", "768,256,8,1"}}),
      "the program cuts 96 tokens into pieces of 32, and one length does not tell whether others are cut "
      "into more pieces or into longer ones: record it at that length.");
  const Cut first{"aten::slice", "4,96,8", "4,32,8", "768,8,1"},
      second{first.op, first.from, first.to, first.strides, 256};
  EXPECT_NE(InPieces({first, second}), "");
  EXPECT_EQ(InPieces({first, first}), "") << "the same ones again";
  const Cut moved{first.op, "4,95,8", first.to, first.strides},
      behind{first.op, "4,95,8", first.to, first.strides, 256};
  EXPECT_NE(InPieces({moved, behind}), "") << "all but the last, which foresee the next one";
  EXPECT_EQ(InPieces({{"aten::slice", "4,96,8", "4,1,8", "768,8,1"},
                      {"aten::slice", "4,96,8", "4,1,8", "768,8,1", 8}}),
            "")
      << "single tokens";
  EXPECT_EQ(InPieces({{"aten::view", "4,96,8", "4,96,2,4", "768,8,4,1"}}), "") << "heads";
}

TEST(SequencePiecesTest, SeveralSequencesAreNoPiecesUnlessTheyWereFilledUp) {
  const Cut view{"aten::view", "4,192,8", "4,2,96,8", "1536,768,8,1", 0, "1536,8,1"};
  EXPECT_EQ(InPieces({view}), "");
  EXPECT_NE(InPieces({{"aten::constant_pad_nd", "4,96,8", "4,192,8", "1536,8,1"}, view}), "");
}

// stack() joins tensors one behind the other, and views them as so many.
TEST(SequencePiecesTest, WholeTensorsThatAreStackedAreNoPieces) {
  Step step = StepOf(
      {{"aten::stack", "4,96,8", "4,96,8", "768,8,1"}, {"aten::view", "4,96,8", "4,3,32,8", "768,256,8,1"}});
  EXPECT_NE(WhyInPieces(step, OfCuts(), 192), "");
  step.ops[1].parent = 0;
  EXPECT_EQ(WhyInPieces(step, OfCuts(), 192), "");
}

// CANINE, of no more letters than a piece has.
TEST(SequencePiecesTest, LongerOnesMayBeMoreThanTheOnlyPiece) {
  const auto joined = [](const char* dimension) {
    return Cut{"aten::cat", "4,96,8", "4,96,8", "768,8,1", 0, "768,8,1", dimension};
  };
  EXPECT_EQ(InPieces({joined("1")}),
            "the program puts pieces of its sequence together, of which 96 tokens are a single one, and one "
            "length does not tell into how many 192 tokens are cut: record it at that length.");
  EXPECT_EQ(InPieces({joined("1")}, 48), "") << "a shorter one is one as well";
  EXPECT_EQ(InPieces({joined("-1")}), "") << "features";
}

// The gated delta rule of Qwen3.5, of no more tokens than a piece has: F.pad, and a view of one piece.
class FilledPieceTest : public testing::Test {
 protected:
  const Cut pad_{"aten::constant_pad_nd", "4,96,8", "4,192,8", "1536,8,1"};
  const Cut view_{"aten::view", "4,192,8", "4,1,192,8", "1536,1536,8,1", 0, "1536,8,1"};
};

TEST_F(FilledPieceTest, LongerOnesMayBeMore) {
  EXPECT_EQ(
      InPieces({pad_, view_}, 193),
      "the program fills 96 tokens up to a piece of 192, and one length does not tell into how many 193 "
      "tokens are cut: record it at that length.");
  EXPECT_EQ(InPieces({pad_, view_}, 192), "");
  EXPECT_EQ(InPieces({pad_, view_}, 48), "");
  EXPECT_EQ(InPieces({pad_}, 193), "") << "room at the end";
  EXPECT_EQ(InPieces({view_}, 193), "") << "something else that is as long";
}

TEST_F(FilledPieceTest, WhatIsFullAlreadyStaysAsItLies) {
  const Cut apart{
      "aten::constant_pad_nd", "4,96,8", "4,192,8", "1536,8,1", 0, "1536,8,1"};  // of rows that are longer
  EXPECT_EQ(InPieces({apart, view_}, 192),
            "the program fills 96 tokens up to a piece, which 192 tokens are already: what is not filled up "
            "stays as it lies, and is copied elsewhere: record it at that length.");
  EXPECT_EQ(InPieces({apart, view_}, 191), "");
}

TEST_F(FilledPieceTest, ItStaysAsLongAsItIsFilledUp) {
  const auto filled = [&](const std::vector<Cut>& cuts) {
    Step step = StepOf(cuts);
    step.blocks[0].requested = 4 * 96 * 8 * 4, step.blocks[1].requested = 4 * 192 * 8 * 4;
    return AtLength(step, OfCuts(), 48).blocks[1].requested;
  };
  EXPECT_EQ(filled({pad_, view_}), 4 * 192 * 8 * 4u);
  EXPECT_EQ(filled({pad_}), 4 * 96 * 8 * 4u) << "as much room as there are tokens";
}

// And of tokens that others stand beside, as those of a picture.
TEST_F(FilledPieceTest, WhatStandsBesideTheTokensIsFilledUpWithThem) {
  const std::vector<Cut> cuts = {{"aten::constant_pad_nd", "4,112,8", "4,192,8", "1536,8,1", 0, "896,8,1"},
                                 view_};
  BatchAxis axis = OfCuts();
  axis.beside = {16, 96};
  Step step = StepOf(cuts);
  EXPECT_EQ(WhyInPieces(step, axis, 177),
            "the program fills 112 tokens up to a piece of 192, and one length does not tell into how many "
            "193 tokens are cut: record it at that length.");
  EXPECT_EQ(WhyInPieces(step, axis, 48), "");
  step.blocks[1].requested = 4 * 192 * 8 * 4;
  EXPECT_EQ(AtLength(step, axis, 48).blocks[1].requested, 4 * 192 * 8 * 4u);
}

}  // namespace
}  // namespace vramscope::whatif
