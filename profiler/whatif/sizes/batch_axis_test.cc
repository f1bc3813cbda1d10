// SPDX-License-Identifier: Apache-2.0
// What the batch and the tokens of a sample reach, though nothing of the inputs' values is in it, and what
// only has a dimension of their number. The oracles are Swin, which writes its mask out for each image, and
// Llama with 32 tokens and 32 frequencies in its rotary embedding.
#include "profiler/whatif/sizes/batch_axis.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

// input ─ view ─ done      what the model keeps ─ operator ─ something new
class BatchAxisTest : public testing::Test {
 protected:
  static constexpr uint32_t kInput = 0, kKept = 1, kMade = 2;

  whatif::Step Written(const View& input, uint8_t dtype, const char* name, const View& kept,
                       uint64_t kept_bytes, const View& made, uint16_t argument = 0) {
    const whatif::Step bare = BareStep(&run_);
    Inserter into(bare, {});
    StepBlock block;
    block.category = classify::Category::kInput;
    (void)into.AddBlock(block);
    block.category = classify::Category::kBuffer;
    block.requested = kept_bytes;
    (void)into.AddBlock(block);
    block.category = classify::Category::kTemporaryForward;
    block.begin = 6;
    (void)into.AddBlock(block);
    const auto operand = [&](uint32_t of, const View& view, uint8_t type) {
      return Viewed(into, of, view, type);
    };
    const uint32_t look =
        into.Begin("aten::view", model::kNone, model::kNone, 1, {operand(kInput, input, dtype)});
    into.End(look, 2, {});
    std::vector<Operand> inputs(argument);
    inputs.push_back(operand(kKept, kept, kFloat));
    const uint32_t make = into.Begin(name, model::kNone, model::kNone, 5, inputs);
    into.End(make, 7, {operand(kMade, made, kFloat)});
    return std::move(into).Finish();
  }

  model::Run run_;
};

TEST_F(BatchAxisTest, WhatIsExpandedToTheBatchAndWrittenOutGrowsWithIt) {
  const View images{{12, 4096}, {4096, 1}}, made{{12, 4, 64}, {256, 64, 1}};
  const auto stride = [&](const View& mask, uint64_t bytes) {
    return FollowBatch(Written(images, kFloat, "aten::clone", mask, bytes, made))->stride[kMade];
  };
  EXPECT_EQ(stride({{12, 4, 64}, {0, 64, 1}}, 1024), 256u);
  EXPECT_EQ(stride({{12, 4, 64}, {256, 64, 1}}, 12 * 1024), 0u) << "it has 12 rows by itself";
}

// Of a parameter with as many rows as there are samples, from a product in 16 bits.
TEST_F(BatchAxisTest, AConvertedGradientOfAParameterDoesNotGrow) {
  const View images{{12, 4096}, {4096, 1}}, made{{12, 4, 64}, {256, 64, 1}};
  for (const bool accumulated : {false, true}) {
    whatif::Step step = Written(images, kFloat, "aten::clone", {{12, 4, 64}, {0, 64, 1}}, 1024, made);
    StepBlock converted = step.blocks[kMade];
    converted.copy_of = kMade, converted.begin = 8;
    if (accumulated) converted.accumulated = 9;
    step.blocks.push_back(converted);
    for (const uint32_t block : {kMade, kMade + 1})
      EXPECT_EQ(FollowBatch(step)->stride[block], accumulated ? 0u : 256u);
  }
}

// ConvBERT's gradient of windows: memory made for [4, 1152, 32] that becomes [4, 128, 32] within it.
TEST_F(BatchAxisTest, WhatIsTakenAgainForOtherSizesGrowsByThose) {
  const View columns{{4, 1152, 32}, {36864, 32, 1}}, rows{{4, 128, 32}, {4096, 32, 1}};
  const auto stride = [&](const View& resized) {
    whatif::Step step = Written({{4, 36864}, {36864, 1}}, kFloat, "aten::add", columns, 1024, columns);
    step.operands[step.ops[1].first_input].block = kInput;
    Inserter into(step, {});
    const auto made = [&](const View& view) { return Viewed(into, kMade, view, kFloat); };
    const uint32_t resize = into.Begin("aten::resize_", model::kNone, model::kNone, 8, {made(columns)});
    into.End(resize, 9, {made(resized)});
    return FollowBatch(std::move(into).Finish())->stride[kMade];
  };
  EXPECT_EQ(stride(rows), 4096u);
  EXPECT_EQ(stride({{2, 128, 32}, {4096, 32, 1}}), 36864u) << "other samples";
}

// The gradient of attention's values, which products compute before those that a call is said to begin with.
TEST_F(BatchAxisTest, WhatACallMakesHasItsSamplesWhereverItBegins) {
  const View rows{{4, 128}, {128, 1}};
  whatif::Step step = Written(rows, kFloat, "BmmBackward0", rows, 1024, rows);
  step.operands[step.ops[1].first_input].block = kInput;
  const auto stride = [&](Position begin, uint32_t op) {
    step.blocks[kMade].begin = begin, step.blocks[kMade].op = op;
    return FollowBatch(whatif::Step(step))->stride[kMade];
  };
  EXPECT_EQ(stride(4.9, 1), 128u);
  EXPECT_NE(stride(4.9, 0), 128u) << "older: another's";
}

TEST_F(BatchAxisTest, ALossThatHasTheMemoryOfItsElementsGrows) {
  const View rows{{4, 128}, {128, 1}}, number{{}, {}};
  whatif::Step step = Written(rows, kFloat, "aten::mse_loss", rows, 2048, number);
  step.operands[step.ops[1].first_input].block = kInput;
  const auto stride = [&](uint64_t bytes) {
    step.blocks[kMade].requested = bytes;
    return FollowBatch(whatif::Step(step))->stride[kMade];
  };
  EXPECT_EQ(stride(2048), 128u);
  EXPECT_EQ(stride(1024), 128u) << "in 16 bits";
  EXPECT_EQ(stride(512), 0u) << "of a number alone";
}

// XLNet's token ids are [tokens, batch], and so is what it expands: positions.expand(-1, batch, -1).
TEST_F(BatchAxisTest, WhereTimeComesFirstWhatIsExpandedInTheSecondDimensionGrowsToo) {
  const View ids{{12, 32}, {32, 1}}, positions{{32, 12, 8}, {8, 0, 1}}, made{{32, 12, 8}, {96, 8, 1}};
  const auto stride = [&](const View& index) {
    const whatif::Step step = Written(ids, kLong, "aten::clone", positions, 1024, made);
    Inserter into(step, {});
    Operand seen = step.operands[step.ops[0].first_input];
    seen.shape = into.ShapeOf(index.shape), seen.strides = into.ShapeOf(index.strides);
    const uint32_t look =
        into.Begin("aten::embedding", model::kNone, model::kNone, 3, {into.Matrix(kKept, 4, 8), seen});
    into.End(look, 4, {});
    return FollowBatch(std::move(into).Finish())->stride[kMade];
  };
  EXPECT_EQ(stride({{32, 12}, {1, 32}}), 8u);
  EXPECT_EQ(stride(ids), 0u) << "12 is something else where the batch comes first";
  EXPECT_EQ(stride({{1, 12}, {1, 32}}), 0u) << "one token of each sample";
}

// BLOOM's slopes of its heads, [4, 1, 64] for each of 12 samples.
TEST_F(BatchAxisTest, WhatIsRepeatedForEachSampleGrowsWithTheBatch) {
  const View ids{{12, 64}, {64, 1}}, slopes{{4, 1, 64}, {64, 64, 1}}, made{{48, 1, 64}, {64, 64, 1}};
  whatif::Step step = Written(ids, kLong, "aten::repeat", slopes, 1024, made);
  const auto stride = [&](const char* repeats) {
    step.ops[1].dims = TextOf(step, repeats);
    return FollowBatch(whatif::Step(step))->stride[kMade];
  };
  EXPECT_EQ(stride("[12,1,1]"), 4 * 64u);
  EXPECT_EQ(stride("[1,12,1]"), 0u) << "its heads";
  // Queries, which come first: [4, 1, 64] for each.
  step = Written(ids, kLong, "aten::repeat", slopes, 1024, {{4, 12, 64}, {768, 64, 1}});
  EXPECT_EQ(stride("[1,12,1]"), 0u) << "may be anything";
  step.blocks[step.operands[step.ops[1].first_input].block].category = classify::Category::kParameter;
  EXPECT_EQ(stride("[1,12,1]"), 64u);
}

// A contrastive loss: similarities of each sample of one kind with each of another.
TEST_F(BatchAxisTest, WhatComparesSamplesWithSamplesGrowsTwice) {
  const View rows{{12, 64}, {64, 1}}, columns{{64, 12}, {1, 64}}, made{{12, 12}, {12, 1}};
  whatif::Step step = Written(rows, kFloat, "aten::mm", columns, 12 * 256, made, 1);
  Operand& first = step.operands[step.ops[1].first_input];
  first = step.operands[step.ops[0].first_input];
  first.op = 1;
  step.operands[step.ops[1].first_input + 1].block = kInput;
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_EQ(axis.stride[kMade], 12u);
  EXPECT_EQ(axis.second[kMade], 1u);
  Scene scene;
  scene.blocks.emplace_back();
  scene.blocks[0].origin = kMade;
  scene.blocks[0].bytes = 12 * 12 * 4;
  ScaleBatch(step, axis, 24, scene);
  EXPECT_EQ(scene.blocks[0].bytes, 24u * 24 * 4);
}

// CPM-Ant's words that are learned stand before each sample: torch.zeros(batch, 8), and 8 samples.
TEST_F(BatchAxisTest, OfWhatIsAsLongAsThereAreSamplesTheOthersTellWhichDimensionIsTheBatch) {
  const View ids{{8, 256}, {256, 1}}, zeros{{8, 8}, {8, 1}}, joined{{8, 264}, {264, 1}};
  const whatif::Step step = Written(ids, kLong, "aten::zeros", zeros, 256, zeros);
  const auto second = [&](uint32_t with) {
    Inserter into(step, {});
    const auto operand = [&](uint32_t of, const View& view) { return Viewed(into, of, view, kFloat); };
    StepBlock block;
    block.begin = 11;
    const uint32_t result = into.AddBlock(block);
    const uint32_t cat =
        into.Begin("aten::cat", model::kNone, model::kNone, 10, {operand(kMade, zeros), operand(with, ids)});
    into.End(cat, 12, {operand(result, joined)});
    const BatchAxis axis = FollowBatch(std::move(into).Finish()).value();
    EXPECT_EQ(axis.stride[result], 264u);
    return axis.second[result];
  };
  EXPECT_EQ(second(kInput), 0u);
  EXPECT_EQ(second(kKept), 1u) << "nothing else is known";
}

TEST_F(BatchAxisTest, WhatALeverPutsInGrowsAsItSays) {
  const View rows{{12, 64}, {64, 1}};
  whatif::Step step = Written(rows, kFloat, "aten::exp", rows, 12 * 256, rows);
  for (Operand& operand : step.operands)
    if (operand.block == kKept) operand.block = kInput;
  for (const Grows grows : {Grows::kUnsaid, Grows::kWithBatch, Grows::kNot}) {
    StepBlock block;
    block.begin = 6.2, block.end = 6.5;
    block.op = 1;
    block.requested = grows == Grows::kNot ? 1 << 20 : 48;
    block.grows = grows;
    step.blocks.push_back(block);
  }
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_EQ(axis.stride[kMade + 1], 0u) << "too small to tell";
  EXPECT_NE(axis.stride[kMade + 2], 0u);
  EXPECT_EQ(axis.stride[kMade + 3], 0u);
}

// Under autocast, mask.expand(12, 4, 8, 16).to(x.dtype) is written out though mask has no samples.
TEST_F(BatchAxisTest, ACopyOfWhatIsExpandedToTheBatchGrowsWithIt) {
  const View rows{{12, 64}, {64, 1}};
  whatif::Step step = Written(rows, kFloat, "aten::exp", {{8, 16}, {16, 1}}, 8 * 16 * 4, {{8, 16}, {16, 1}});
  for (const int64_t expanded : {12, 4, 0}) {
    step.blocks.push_back(CopyOf(step, kKept));
    step.blocks.back().expanded = expanded;
  }
  const BatchAxis axis = FollowBatch(step).value();
  EXPECT_NE(axis.stride[kMade + 1], 0u);
  EXPECT_EQ(axis.stride[kMade + 2], 0u) << "to the heads";
  EXPECT_EQ(axis.stride[kMade + 3], 0u);
}

// Rotary embeddings in complex numbers, and FNet's Fourier transform: [4, 32, 8] of them, seen as twice as
// many real ones.
TEST_F(BatchAxisTest, ComplexNumbersMayBeSeenAsRealOnes) {
  constexpr uint8_t kComplex = 9;
  const View ids{{4, 32}, {32, 1}}, complex{{4, 32, 8}, {256, 8, 1}};
  whatif::Step step = Written(ids, kLong, "aten::exp", ids, 512, complex);
  step.operands[step.ops[1].first_input].block = kInput;
  step.operands[step.ops[1].first_output].dtype = kComplex;
  const BatchAxis axis = FollowSequence(step).value();
  ASSERT_EQ(axis.stride[kMade], 8u);
  Operand seen = step.operands[step.ops[1].first_output];
  EXPECT_EQ(axis.StrideIn(seen, 8), 8u);
  seen.dtype = kFloat;
  EXPECT_EQ(axis.StrideIn(seen, 8), 16u) << "of its real parts alone, too";
  seen.block = kInput;
  EXPECT_EQ(axis.StrideIn(seen, 8), 8u) << "not said of what is given";
}

TEST_F(BatchAxisTest, WhatTheModelKeepsIsCutToTheTokensWhereItHasMoreRows) {
  const View ids{{3, 32}, {32, 1}}, first{{32}, {1}};
  const auto stride = [&](uint64_t rows) {
    return FollowSequence(Written(ids, kLong, "aten::cos", first, rows * 4, first))->stride[kMade];
  };
  EXPECT_EQ(stride(64), 1u);
  EXPECT_EQ(stride(32), 0u) << "as many frequencies as tokens";
}

// ProphetNet's distances: made for its longest sequence, [1, 64, 64], and cut to the tokens in both
// directions.
TEST_F(BatchAxisTest, ATableOfNumbersIsCutToTheTokensInBothDirections) {
  const View ids{{3, 32}, {32, 1}}, cut{{1, 32, 32}, {4096, 64, 1}}, made{{3, 32, 32}, {1024, 32, 1}};
  const auto axis = [&](uint8_t type) {
    whatif::Step step = Written(ids, kLong, "aten::repeat", cut, 64 * 64 * 4, made);
    step.blocks[kKept].category = classify::Category::kTemporaryForward;
    step.blocks[kKept].begin = 0.5;
    for (Operand& operand : step.operands)
      if (operand.block == kKept) operand.dtype = type;
    return FollowSequence(step).value();
  };
  constexpr uint8_t kInt = 3;
  EXPECT_EQ(axis(kInt).stride[kMade], 32u);
  EXPECT_EQ(axis(kInt).second[kMade], 1u);
  EXPECT_EQ(axis(kFloat).stride[kMade], 0u) << "a size of the model may be the same";
}

// Its mask is float: torch.where(arange(64) > ..., -inf, 0), which no size of the model is in.
TEST_F(BatchAxisTest, SoIsATableOfFloatsThatIsMadeOfNumbers) {
  const View ids{{3, 32}, {32, 1}}, cut{{1, 32, 32}, {4096, 64, 1}}, made{{3, 32, 32}, {1024, 32, 1}};
  const auto stride = [&](uint8_t from) {
    whatif::Step step = Written(ids, kLong, "aten::repeat", cut, 64 * 64 * 4, made);
    step.blocks[kKept].category = classify::Category::kTemporaryForward;
    step.blocks[kKept].begin = 2.5;
    // A table of one dimension, there before, that the whole one is computed from between the two operators.
    StepBlock numbers;
    numbers.begin = 0.5;
    step.blocks.push_back(numbers);
    Op make = step.ops[1];
    make.begin = 2.2, make.end = 3;
    make.first_input = static_cast<uint32_t>(step.operands.size()), make.input_count = 1;
    make.first_output = make.first_input + 1, make.output_count = 1;
    Operand given, whole;
    given.op = whole.op = 1;
    given.block = kMade + 1, given.dtype = from;
    whole.block = kKept, whole.dtype = kFloat;
    step.operands.push_back(given), step.operands.push_back(whole);
    step.ops.insert(step.ops.begin() + 1, make);
    for (Operand& operand : step.operands)
      if (operand.op == 1 && operand.block != kMade + 1 && &operand < &step.operands[make.first_input])
        operand.op = 2;
    step.op_ends = {0, 1, 2};
    return FollowSequence(step)->stride[kMade];
  };
  EXPECT_EQ(stride(kLong), 32u);
  EXPECT_EQ(stride(kFloat), 0u);
}

// made = x.new_zeros(2, batch, 64); made[0].copy_(x)
TEST_F(BatchAxisTest, WhatSamplesAreCopiedIntoHasThem) {
  const View rows{{12, 64}, {64, 1}};
  for (const char* name : {"aten::copy_", "aten::add_"}) {
    whatif::Step step = Written(rows, kFloat, "aten::new_zeros", {{1}, {1}}, 4, {{2, 12, 64}, {768, 64, 1}});
    Op copy = step.ops[1];
    step.own_texts->push_back(name);
    copy.name = Step::kFirstOwnText + static_cast<uint32_t>(step.own_texts->size()) - 1;
    copy.begin = 8, copy.end = 9;
    copy.first_input = static_cast<uint32_t>(step.operands.size());
    copy.input_count = 1, copy.first_output = copy.first_input + 1, copy.output_count = 1;
    Operand from = step.operands[0], into = from;
    from.op = into.op = 2;
    into.block = kMade;
    step.operands.push_back(from), step.operands.push_back(into);
    step.ops.push_back(copy);
    step.op_ends = {0, 1, 2};
    EXPECT_EQ(FollowBatch(step)->stride[kMade], name == std::string("aten::copy_") ? 64u : 0u) << name;
  }
}

// mask.expand(-1, -1, 32, 32) + 0: of what is expanded to the tokens no dimension is in the memory.
TEST_F(BatchAxisTest, WhatIsExpandedToTheTokensAndWrittenOutHasThem) {
  const View ids{{3, 32}, {32, 1}}, made{{3, 32, 5}, {160, 5, 1}};
  const auto stride = [&](const View& mask) {
    whatif::Step step = Written(ids, kLong, "aten::clone", mask, 15 * 4, made);
    step.blocks[kKept].category = classify::Category::kTemporaryForward;
    return FollowSequence(step)->stride[kMade];
  };
  EXPECT_EQ(stride({{3, 32, 5}, {5, 0, 1}}), 5u);
  EXPECT_EQ(stride({{3, 32, 5}, {160, 5, 1}}), 0u) << "it has 32 rows by itself";
}

// GPT-NeoX: torch.zeros(batch * heads, rows, columns), which products are added to.
TEST_F(BatchAxisTest, WhatProductsAreAddedToGrowsAsTheSumDoes) {
  const View batch{{3, 4, 8, 8}, {256, 64, 8, 1}}, products{{12, 8, 8}, {64, 8, 1}};
  for (const char* const name : {"aten::baddbmm", "aten::addbmm"}) {
    whatif::Step step = Written(batch, kFloat, name, products, 1024, products);
    step.blocks[kKept].category = classify::Category::kTemporaryForward;
    step.blocks[kKept].begin = 0.5;
    // added, then the two factors: both of the batch
    Operand factor = step.operands[step.ops[1].first_input];
    factor.block = kInput;
    const Operand result = step.operands[step.ops[1].first_output];
    step.ops[1].first_input = static_cast<uint32_t>(step.operands.size());
    Operand added = factor;
    added.block = kKept;
    for (const Operand& one : {added, factor, factor}) step.operands.push_back(one);
    step.ops[1].input_count = 3;
    step.ops[1].first_output = static_cast<uint32_t>(step.operands.size());
    step.operands.push_back(result);
    const BatchAxis axis = FollowBatch(step).value();
    EXPECT_NE(axis.stride[kMade], 0u) << name;
    EXPECT_EQ(axis.stride[kKept], name == std::string("aten::baddbmm") ? axis.stride[kMade] : 0u) << name;
  }
}

// T5 with 64 tokens and heads of 64: what attention returns is not square in the tokens.
TEST_F(BatchAxisTest, AMasksKeysAreNotTheWidthOfWhatAttentionReturns) {
  const View ids{{3, 32}, {32, 1}}, mask{{1, 1, 32, 32}, {4096, 4096, 64, 1}};
  const View made{{3, 2, 32, 32}, {2048, 1024, 32, 1}};
  const auto axis = [&](const char* name) {
    return FollowSequence(Written(ids, kLong, name, mask, 64 * 64 * 4, made, 3)).value();
  };
  EXPECT_NE(axis("aten::addcmul").stride[kMade], 0u);
  EXPECT_EQ(axis("aten::_scaled_dot_product_efficient_attention").stride[kMade], 0u);
}

// labels = F.pad(labels, (0, 1)), of which all but the first are what a loss of the next token compares with.
TEST_F(BatchAxisTest, WhatIsPaddedHasTheTokensToo) {
  const View ids{{3, 32}, {32, 1}}, padded{{3, 33}, {33, 1}};
  for (const char* const name : {"aten::pad", "aten::exp"}) {
    whatif::Step step = Written(ids, kLong, name, ids, 3 * 32 * 4, padded);
    for (Operand& operand : step.operands)
      if (operand.block == kKept) operand.block = kInput;
    EXPECT_EQ(FollowSequence(step)->stride[kMade], name == std::string("aten::pad") ? 1u : 0u) << name;
  }
}

// LED's windows: as_strided() of keys, whose gradient is added up in memory of one dimension.
TEST_F(BatchAxisTest, WhatAddsUpGradientsOfAViewGrowsAsWhatWasViewed) {
  const View keys{{3, 64, 8}, {512, 8, 1}}, memory{{3 * 512}, {1}};
  const auto stride = [&](const char* viewed_by, const View& made) {
    whatif::Step step = Written(keys, kFloat, "aten::new_zeros", memory, 1024, made);
    step.own_texts->push_back(viewed_by);
    step.ops[0].name = Step::kFirstOwnText + static_cast<uint32_t>(step.own_texts->size() - 1);
    step.nodes.push_back({0, 0, 1, 5, 8});
    step.ops[1].node = 0;
    return FollowBatch(step)->stride[kMade];
  };
  EXPECT_EQ(stride("aten::as_strided", memory), 512u);
  EXPECT_EQ(stride("aten::view", memory), 0u);
  EXPECT_EQ(stride("aten::as_strided", {{3 * 256}, {1}}), 0u) << "not of all that was viewed";
}

}  // namespace
}  // namespace vramscope::whatif
