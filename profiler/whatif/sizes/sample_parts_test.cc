// SPDX-License-Identifier: Apache-2.0
// Series of a batch of four that are prepared one by one, as TimesFM does, written down by hand.
#include "profiler/whatif/sizes/sample_parts.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/view.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using Sizes = std::vector<int64_t>;

constexpr int64_t kSamples = 4, kValues = 8, kPadding = 16, kLongest = 32;

struct Written {
  std::vector<uint32_t> parts, padding;
  uint32_t joined = 0, padded = 0, compared = 0, rows = 0, columns = 0;
  Step step;
};

// values [4, 8] ─ values[i].min() ─ stack      torch.zeros(16) for each of them ─ stack
class SamplePartsTest : public testing::Test {
 protected:
  // `samples`: those of which something is computed, in the order in which it is joined.
  [[nodiscard]] Written Write(const std::vector<int64_t>& samples, Position part_lives = 50) {
    Step bare;
    bare.run = &run_;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    const auto seen = [&](uint32_t block, const Sizes& sizes, const Sizes& strides, uint64_t offset = 0) {
      Operand operand = Viewed(into, block, {sizes, strides}, kFloat);
      operand.offset = offset;
      return operand;
    };
    Position now = 1;
    const auto call = [&](const char* name, const std::vector<Operand>& from, const Sizes& sizes,
                          const Sizes& strides = {1}) {
      StepBlock made;
      made.begin = now + 0.5, made.end = now + part_lives, made.requested = 64;
      const uint32_t op = into.Begin(name, kNone, kNone, now, from);
      made.op = op;
      const uint32_t block = into.AddBlock(made);
      into.End(op, now + 1, {seen(block, sizes, strides)});
      now += 2;
      return block;
    };
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    into.End(into.Begin("aten::view", kNone, kNone, 0, {seen(0, {kSamples, kValues}, {kValues, 1})}), 0.5,
             {});
    Written written;
    std::vector<Operand> parts, padding;
    for (const int64_t sample : samples) {
      const auto offset = static_cast<uint64_t>(sample * kValues);
      written.parts.push_back(call("aten::min", {seen(0, {kValues}, {1}, offset)}, {1}));
      parts.push_back(seen(written.parts.back(), {1}, {1}));
    }
    written.joined = call("aten::cat", parts, {static_cast<int64_t>(parts.size())});
    const auto count = static_cast<int64_t>(parts.size());
    const Operand column = seen(0, {kSamples, 1}, {kValues, 1}), row = seen(written.joined, {count}, {1});
    written.compared = call("aten::sub", {column, row}, {kSamples, count}, {count, 1});
    for (int64_t i = 0; i < kSamples; ++i) {
      written.padding.push_back(call("aten::zeros", {}, {kPadding}));
      padding.push_back(seen(written.padding.back(), {kPadding}, {1}));
    }
    written.padded = call("aten::cat", padding, {kSamples * kPadding});
    written.rows = call("aten::pad_sequence", parts, {count, kLongest}, {kLongest, 1});
    written.columns = call("aten::pad_sequence", parts, {kLongest, count}, {count, 1});
    written.step = std::move(into).Finish();
    return written;
  }

 private:
  model::Run run_;
};

TEST_F(SamplePartsTest, WhatIsJoinedOfEachSampleHasTheBatch) {
  const Written all = Write({0, 1, 2, 3}), two = Write({0, 0, 1, 1, 2, 2, 3, 3});
  EXPECT_EQ(FollowBatch(all.step)->stride[all.joined], 1u);
  EXPECT_EQ(FollowBatch(two.step)->stride[two.joined], 2u) << "two of each";
  for (const std::vector<int64_t>& samples : {std::vector<int64_t>{0, 0, 0, 0}, {3, 2, 1, 0}, {0, 1, 2}}) {
    const Written other = Write(samples);
    EXPECT_EQ(FollowBatch(other.step)->stride[other.joined], 0u);
  }
}

// Texts of other lengths: what is in a row does not tell whose it is.
TEST_F(SamplePartsTest, OfAsManySequencesAsSamplesEachIsARow) {
  const Written all = Write({0, 0, 0, 0}), three = Write({0, 0, 0});
  const BatchAxis &axis = *FollowBatch(all.step), &other = *FollowBatch(three.step);
  EXPECT_EQ(axis.stride[all.rows], static_cast<uint64_t>(kLongest));
  EXPECT_EQ(axis.stride[all.columns], 1u) << "batch_first=False";
  EXPECT_EQ(other.stride[three.rows], 0u);
}

// values[:, None] - smallest[None]
TEST_F(SamplePartsTest, AndComparesSamplesWithEachOther) {
  const Written all = Write({0, 1, 2, 3}), first = Write({0, 0, 0, 0});
  const BatchAxis &axis = *FollowBatch(all.step), &other = *FollowBatch(first.step);
  EXPECT_EQ(axis.stride[all.compared], static_cast<uint64_t>(kSamples));
  EXPECT_EQ(axis.second[all.compared], 1u);
  EXPECT_EQ(other.second[first.compared], 0u) << "with the first one";
}

TEST_F(SamplePartsTest, SoHasWhatIsMadeOfNothingForEachWhereSamplesAreTakenApart) {
  const Written all = Write({0, 1, 2, 3}), first = Write({0});
  EXPECT_EQ(FollowBatch(all.step)->stride[all.padded], static_cast<uint64_t>(kPadding));
  EXPECT_EQ(FollowBatch(first.step)->stride[first.padded], 0u);
}

// Attention in a window of one picture works in as much memory, however many pictures there are.
TEST_F(SamplePartsTest, AnOperatorMayBeGivenOneSampleOfTheBatch) {
  whatif::Step step;
  const uint32_t op = static_cast<uint32_t>(step.ops.size());
  step.shapes.push_back({});
  step.ops.emplace_back().input_count = 2;
  step.blocks.resize(2);
  BatchAxis axis;
  axis.batch = kSamples, axis.stride = {kValues, 0}, axis.second = {0, 0};
  AddTensor(step, op, 0, 0, std::to_string(kValues).c_str(), "1");
  AddTensor(step, op, 1, 1, "3", "1");
  EXPECT_TRUE(IsGivenOneSample(step, axis, step.ops[op]));
  axis.stride[1] = 1;
  EXPECT_FALSE(IsGivenOneSample(step, axis, step.ops[op])) << "and all of another block";
  axis.stride = {0, 0};
  EXPECT_FALSE(IsGivenOneSample(step, axis, step.ops[op])) << "nothing of the batch";
}

TEST_F(SamplePartsTest, OfMoreSamplesThereAreMoreParts) {
  const Written all = Write({0, 1, 2, 3});
  const BatchAxis& axis = *FollowBatch(all.step);
  const auto bytes = [&](uint32_t block, int64_t samples) {
    Scene scene;
    scene.blocks.push_back({1, 2, all.step.blocks[block].requested, block});
    ScaleBatch(all.step, axis, samples, scene);
    EXPECT_EQ(scene.blocks[0].pieces, std::max<uint64_t>(scene.blocks[0].bytes / 512, 1));
    return scene.blocks[0].bytes;
  };
  for (const std::vector<uint32_t>& blocks : {all.parts, all.padding}) {
    EXPECT_EQ(bytes(blocks[1], 8), 2 * 512u) << "in blocks of their own";
    EXPECT_EQ(bytes(blocks[2], 5), 64u);
    EXPECT_EQ(bytes(blocks[3], 5), 2 * 512u);
    EXPECT_EQ(bytes(blocks[2], 2), 64u) << "backward goes through the last ones first";
    EXPECT_EQ(bytes(blocks[1], 2), 0u);
  }
}

// A frozen weight, which autocast converts for each of them; of one that is trained it keeps its copy.
TEST_F(SamplePartsTest, SoThereAreCopiesOfAParameterThatAreMadeForOneSampleEach) {
  Step step = Write({0, 1, 2, 3}).step;
  for (const bool trained : {true, false}) {
    StepBlock weight;
    weight.category = classify::Category::kParameter;
    step.blocks.push_back(weight);
    const auto of = static_cast<uint32_t>(step.blocks.size() - 1);
    for (uint32_t op = 1; op <= (trained ? 1 : kSamples); ++op) {  // behind the first view
      StepBlock copy = CopyOf(step, of);
      copy.op = op, copy.begin = step.ops[op].begin + 0.1, copy.end = 60, copy.requested = 64;
      ASSERT_EQ(step.NameOf(step.ops[op]), "aten::min");
      step.blocks.push_back(copy);
    }
  }
  const Result<BatchAxis>& axis = FollowBatch(step);
  const auto blocks = static_cast<uint32_t>(step.blocks.size());
  EXPECT_EQ(axis->SampleOf(blocks - 6), kNoSample) << "of all samples";
  for (int64_t sample = 0; sample < kSamples; ++sample)
    EXPECT_EQ(axis->SampleOf(static_cast<uint32_t>(blocks - kSamples + sample)), sample);
}

TEST_F(SamplePartsTest, WhatATurnOfALoopDropsIsNotThereMoreOften) {
  const Written turns = Write({0, 1, 2, 3}, 1.5);
  EXPECT_EQ(FollowBatch(turns.step)->SampleOf(turns.parts[1]), kNoSample);
  EXPECT_EQ(FollowBatch(turns.step)->stride[turns.joined], 1u);
}

// Pictures of which some lie otherwise than the others, and are copied for that; patches are taken of all of
// them.
TEST(PicturePartsTest, WhatSomeSamplesHaveIsThereAsOftenAsTheyAre) {
  const auto samples_of = [](const std::vector<int64_t>& copied) {
    model::Run run;
    Inserter into(BareStep(&run), {});
    StepBlock input;
    input.category = classify::Category::kInput;
    (void)into.AddBlock(input);
    const View all{{kSamples, kValues}, {kValues, 1}}, one{{kValues}, {1}};
    into.End(into.Begin("aten::view", kNone, kNone, 0, {Viewed(into, 0, all, kFloat)}), 0.5, {});
    Position now = 1;
    std::vector<uint32_t> blocks;
    const auto call = [&](const char* name, int64_t sample, Position end) {
      Operand given = Viewed(into, 0, one, kFloat);
      given.offset = static_cast<uint64_t>(sample * kValues);
      const uint32_t op = into.Begin(name, kNone, kNone, now, {given});
      StepBlock made;
      made.begin = now + 0.5, made.end = end, made.requested = 64;
      made.op = into.Begin("aten::empty", op, kNone, now + 0.25, {});
      blocks.push_back(into.AddBlock(made));
      const Operand result = Viewed(into, blocks.back(), one, kFloat);
      into.End(made.op, now + 0.75, {result}), into.End(op, now + 1, {result});
      now += 2;
    };
    for (const int64_t sample : copied) call("aten::flatten", sample, 10);
    now = 10;
    for (int64_t sample = 0; sample < kSamples; ++sample) call("aten::im2col", sample, 50);
    const Step step = std::move(into).Finish();
    std::vector<int64_t> samples;
    for (const uint32_t block : blocks) samples.push_back(FollowBatch(step)->SampleOf(block));
    return samples;
  };
  EXPECT_EQ(samples_of({1, 3}), (std::vector<int64_t>{1, 3, 0, 1, 2, 3}));
  EXPECT_EQ(samples_of({1}), (std::vector<int64_t>{kNoSample, 0, 1, 2, 3}))
      << "it may be no matter of samples";
}

// x [4, 6, 8]; for each token: state = f(state, x[:, t]) ─ stack ─ [4, 8, 6]
TEST(TokenPartsTest, StatesOfAllTokensThatAreJoinedHaveTheSequence) {
  constexpr int64_t kTokens = 6;
  const auto joined = [&](const std::vector<int64_t>& tokens) {
    model::Run run;
    Step bare;
    bare.run = &run;
    bare.shapes.push_back({});
    Inserter into(bare, {});
    Position now = 1;
    const auto call = [&](const char* name, const std::vector<Operand>& from, const View& made) {
      StepBlock block;
      block.begin = now + 0.5, block.end = 90, block.requested = 512;
      block.op = into.Begin(name, kNone, kNone, now, from);
      const Operand result = Viewed(into, into.AddBlock(block), made, kFloat);
      into.End(block.op, now + 1, {result});
      now += 2;
      return result;
    };
    StepBlock input;
    input.category = classify::Category::kInput;
    const Operand x = Viewed(into, into.AddBlock(input),
                             {{kSamples, kTokens, kValues}, {kTokens * kValues, kValues, 1}}, kFloat);
    Operand state = call("aten::zeros", {}, {{kSamples, kValues}, {kValues, 1}});
    std::vector<Operand> states;
    for (const int64_t token : tokens) {
      Operand one = Viewed(into, x.block, {{kSamples, kValues}, {kTokens * kValues, 1}}, kFloat);
      one.offset = static_cast<uint64_t>(token * kValues);
      into.End(into.Begin("aten::select", kNone, kNone, now, {x}), now + 0.5, {one});
      now += 1;
      state = call("aten::add", {state, one}, {{kSamples, kValues}, {kValues, 1}});
      states.push_back(Viewed(into, state.block, {{kSamples, kValues, 1}, {kValues, 1, 1}}, kFloat));
    }
    const auto count = static_cast<int64_t>(tokens.size());
    const Operand all = call("aten::cat", states, {{kSamples, kValues, count}, {kValues * count, count, 1}});
    const Step step = std::move(into).Finish();
    return FollowSequence(step)->stride[all.block];
  };
  EXPECT_EQ(joined({0, 1, 2, 3, 4, 5}), 1u);
  EXPECT_EQ(joined({0, 1, 2, 3}), 0u) << "some of them";
}

}  // namespace
}  // namespace vramscope::whatif
