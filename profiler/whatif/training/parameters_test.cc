// SPDX-License-Identifier: Apache-2.0
// Levers that remove parameters, or parts of them. Oracles: the figures of the ZeRO paper (Rajbhandari et
// al., 2020, table 1), and PyTorch's rules for buckets. The levers change a hand-written step of one network;
// tests/whatif_accuracy has real ones.
#include "profiler/whatif/training/parameters.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/shard/shard.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

using classify::Category;

constexpr double kGiga = 1e9;

// 64 equal parameters, all in the model itself: forward from 0 to 100, backward to 200, optimizer to 300.
// Gradients arrive in the order of their numbers.
class EqualParameters {
 public:
  EqualParameters(uint64_t parameter, uint64_t gradient, uint64_t state) {
    run.streams.push_back(0);
    step.run = &run;
    step.length = 300;
    step.shapes.push_back({});
    step.backward.push_back({100, 200});
    step.optimizer.push_back({200, 300});
    step.own_texts = std::make_shared<std::deque<std::string>>(1);
    step.modules.push_back({Step::kFirstOwnText, {}, 0, 90});  // the model itself, whose path is empty
    for (int i = 0; i < 64; ++i) names.push_back("p" + std::to_string(i));
    for (int i = 0; i < 64; ++i) names.push_back("exp_avg of p" + std::to_string(i));
    for (size_t i = 0; i < 64; ++i) {
      step.trained.push_back(step.blocks.Next());
      Add(names[i], parameter, Category::kParameter);
    }
    for (size_t i = 0; i < 64; ++i) {
      StepBlock& made = Add(names[i], gradient, Category::kGradient);
      made.begin = 110 + i;
      made.accumulated = HooksAfter(made.begin, 50);
      made.end = 299;
    }
    for (size_t i = 0; i < 64; ++i) Add(names[64 + i], state, Category::kOptimizerState);
  }

  [[nodiscard]] Step Sharded(std::string_view value) const {
    return ShardLever().Rewrite(step, value)->value();
  }

  std::vector<std::string> names;
  model::Run run;
  Step step;

 private:
  StepBlock& Add(std::string_view name, uint64_t bytes, Category category) {
    StepBlock block;
    block.id = static_cast<model::BlockId>(step.blocks.size());
    block.requested = bytes;
    block.name = name;
    block.category = category;
    step.blocks.push_back(block);
    return step.blocks.back();
  }
};

// Bytes of a category that are alive at a moment.
uint64_t Alive(const Step& step, Category category, Position at) {
  uint64_t bytes = 0;
  for (const StepBlock& block : step.blocks) {
    if (block.category == category && block.begin <= at && at < block.end) bytes += block.requested;
  }
  return bytes;
}

double States(const Step& step, Position at) {
  return static_cast<double>(Alive(step, Category::kParameter, at) + Alive(step, Category::kGradient, at) +
                             Alive(step, Category::kOptimizerState, at)) /
         kGiga;
}

constexpr Position kComputing = 105, kStepping = 205;

// 7.5 billion parameters in mixed precision with Adam on 64 GPUs: 2 + 2 + 12 bytes per parameter.
TEST(ShardTest, ModelStatesAreThoseOfTheZeroPaper) {
  const EqualParameters network(15'000'000'000 / 64, 15'000'000'000 / 64, 90'000'000'000 / 64);
  EXPECT_NEAR(States(network.step, kStepping), 120, 0.05);
  EXPECT_NEAR(States(network.Sharded("zero1:64"), kStepping), 31.4, 0.05);
  const Step third = FullySharded(network.step, UnitsOf(network.step, {}), 64, true);
  EXPECT_NEAR(States(third, kStepping), 1.88, 0.01);
  // Stage 2 keeps whole parameters for its computations; fully_shard has its shard in addition.
  const Step second = FullySharded(network.step, UnitsOf(network.step, {}), 64, false);
  const double whole = static_cast<double>(Alive(second, Category::kCommunication, kComputing)) / kGiga;
  const double shard = static_cast<double>(Alive(second, Category::kParameter, kComputing)) / kGiga;
  EXPECT_NEAR(whole + States(second, kStepping) - shard, 16.6, 0.05);
  EXPECT_NEAR(shard, 15.0 / 64, 0.001);
}

// split_with_sizes_copy and chunk_cat_mixed_dtype of PyTorch 2.15 copied 5,120 bytes for a layer of a model
// of six layers. Here: 64 parameters of 4 thread blocks' bytes on each of 2 ranks.
TEST(ShardTest, TheListsOfCopiesAreOnTheDeviceForAMoment) {
  const EqualParameters network(2 * 4 * 2048, 2 * 4 * 2048, 8);
  const Step changed = FullySharded(network.step, UnitsOf(network.step, {}), 2, true);
  std::vector<uint64_t> lists;
  for (const StepBlock& block : changed.blocks)
    if (block.id == model::kNone && block.copy_of == model::kNone) lists.push_back(block.requested);
  EXPECT_THAT(lists, ::testing::ElementsAre((4 * 64 + 256 + 1) * 8, (6 * 64 + 256 + 2) * 8));
}

TEST(ShardTest, GradientsGoInTheOppositeOrderOfTheirParameters) {
  const EqualParameters network(1024, 1024, 8);
  const Step changed = FullySharded(network.step, UnitsOf(network.step, {}), 2, true);
  for (size_t i = 65; i < 128; ++i) EXPECT_LT(changed.blocks[i].end, changed.blocks[i - 1].end);
}

// As when a model moves from the host to the device.
TEST(ShardTest, AUnitIsThereAsAWholeUntilItsShardsAre) {
  EqualParameters network(1024, 1024, 8);
  network.step.first.begin = 200;
  for (uint32_t i = 0; i < 192; ++i) {
    model::Block block;
    block.alloc_event = 100 + i;
    network.run.blocks.push_back(block);
  }
  const Step changed = FullySharded(network.step, UnitsOf(network.step, {}), 2, true);
  ASSERT_EQ(changed.passing.size(), 64u);
  for (const Passing& whole : changed.passing) {
    EXPECT_EQ(whole.bytes, 1024u);
    EXPECT_LT(whole.begin, changed.blocks[0].set_up);
    EXPECT_GT(whole.end, changed.blocks[63].set_up);
    EXPECT_LT(whole.end, 0);
  }
}

// A published recording of 3.41 billion parameters on two ranks, GiB: parameters 12.691, gradients 12.691,
// optimizer 25.383 of a peak of 51.301. With sharded optimizer state, the state is 12.691 and the peak
// 38.562; the rest falls from 0.536 to 0.489 there.
TEST(ShardTest, ASharedOptimizerLeavesWhatWasMeasuredOnTwoRanks) {
  constexpr double kGib = 1 << 30, kOthers = 51.301 - 2 * 12.691 - 25.383;
  const auto each = [](double gib) { return static_cast<uint64_t>(gib * kGib / 64); };
  const EqualParameters network(each(12.691), each(12.691), each(25.383));
  const Step shared = network.Sharded("zero1:2");
  const auto peak = [&](const Step& step) { return States(step, kStepping) * kGiga / kGib + kOthers; };
  EXPECT_NEAR(peak(network.step), 51.301, 0.001);
  EXPECT_NEAR(static_cast<double>(Alive(shared, Category::kOptimizerState, kStepping)) / kGib, 12.691, 0.001);
  EXPECT_NEAR(peak(shared), 38.562, 0.05);
}

// 64 gradients of 3 MiB: one fills the first bucket, the others hold nine each, because gradients are not
// split.
TEST(ShardTest, BucketsAreFilledInTheOrderOfGradients) {
  constexpr uint64_t kEach = 3 << 20;
  const EqualParameters network(kEach, kEach, kEach);
  const Step replicated = network.Sharded("ddp:8");
  std::vector<uint64_t> buckets;
  for (const StepBlock& block : replicated.blocks) {
    if (block.category == Category::kCommunication) buckets.push_back(block.requested / kEach);
  }
  EXPECT_THAT(buckets, testing::ElementsAre(1, 9, 9, 9, 9, 9, 9, 9));
  EXPECT_EQ(Alive(replicated, Category::kGradient, kStepping), 64 * kEach);
  EXPECT_EQ(Alive(network.Sharded("ddp:8:view"), Category::kGradient, kStepping), 0u);
}

// A batch that requires a gradient is not a parameter of the module.
TEST(ShardTest, BucketsHaveNoRoomForTheGradientOfABatch) {
  constexpr uint64_t kEach = 3 << 20;
  EqualParameters network(kEach, kEach, kEach);
  network.step.blocks[64 + 32].leaf = 0;
  std::vector<uint64_t> buckets;
  for (const StepBlock& block : network.Sharded("ddp:8").blocks)
    if (block.category == Category::kCommunication) buckets.push_back(block.requested / kEach);
  EXPECT_THAT(buckets, testing::ElementsAre(1, 9, 9, 9, 9, 9, 9, 8));
  EXPECT_EQ(Alive(network.Sharded("ddp:8:view"), Category::kGradient, kStepping), kEach);
}

// A head receives two matrices as one; the gradient of each is a view of the common gradient.
TEST(ShardTest, BucketsHaveRoomForAGradientAndNotForTheBlockItIsAViewOf) {
  constexpr uint64_t kEach = 3 << 20;
  const EqualParameters network(kEach, 2 * kEach, kEach);
  std::vector<uint64_t> buckets;
  for (const StepBlock& block : network.Sharded("ddp:8").blocks)
    if (block.category == Category::kCommunication) buckets.push_back(block.requested / kEach);
  EXPECT_THAT(buckets, testing::ElementsAre(1, 9, 9, 9, 9, 9, 9, 9));
}

// A buffer that forward replaces, for example a range of recorded values: x_min = min(x_min, x.min()).
TEST(ShardTest, WhatForwardPutsInThePlaceOfABufferComesBesideIt) {
  EqualParameters network(1 << 20, 1 << 20, 512);
  for (const auto& [begin, end] : {Window{kBefore, 50}, Window{49, kForever}}) {
    StepBlock range = network.step.blocks[0];
    range.id = model::kNone, range.name = "x_min", range.category = Category::kBuffer, range.requested = 512;
    range.begin = begin, range.end = end;
    network.step.blocks.push_back(range);
  }
  StepBlock lasting = network.step.blocks.back();
  lasting.name = "scale", lasting.begin = kBefore;
  network.step.blocks.push_back(lasting);
  const auto buffers = [](const Step& step, Position at) { return Alive(step, Category::kBuffer, at) / 512; };
  const Step replicated = network.Sharded("ddp:8");
  EXPECT_EQ(buffers(network.step, 40), 2u);
  EXPECT_EQ(buffers(replicated, 40), 2u) << "the list has what is there";
  EXPECT_EQ(buffers(network.step, 60), 2u);
  EXPECT_EQ(buffers(replicated, 60), 3u) << "and still has it";
  EXPECT_TRUE(std::ranges::any_of(replicated.blocks, [](const StepBlock& block) {
    return block.category == Category::kCommunication && block.requested == 2 * 512 && block.begin < 1;
  })) << "both are broadcast";
}

// Batch norms have statistics and a count of batches. A run with DDP sent both at once.
TEST(ShardTest, TwoFlatBlocksAreOnTheirWayInTheOrderOfTheirFirstTensors) {
  constexpr uint8_t kFloat = 6, kLong = 4;  // c10::ScalarType
  EqualParameters network(1 << 20, 1 << 20, 512);
  Step& step = network.step;
  for (const uint8_t type : {kFloat, kLong, kFloat, kLong}) {
    StepBlock buffer = step.blocks[0];
    buffer.id = model::kNone, buffer.category = Category::kBuffer, buffer.name = "statistic";
    buffer.requested = type == kLong ? 8 : 512;
    buffer.begin = kBefore, buffer.end = kForever;
    Operand operand;
    operand.block = step.blocks.Next(), operand.dtype = type;
    step.blocks.push_back(buffer), step.operands.push_back(operand);
  }
  std::vector<StepBlock> sent;
  for (const StepBlock& block : network.Sharded("ddp:8").blocks)
    if (block.category == Category::kCommunication && block.begin > kBefore && block.requested < 1 << 20 &&
        block.end < kForever)
      sent.push_back(block);
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].requested, 1024u);
  EXPECT_EQ(sent[1].requested, 16u);
  EXPECT_LT(sent[0].begin, sent[1].begin);
  EXPECT_LT(sent[1].begin, sent[0].end) << "both at once";
  EXPECT_LT(sent[0].end, sent[1].end);
}

// The broadcast when the module is created, one bucket of all gradients until the second forward pass, and
// the buckets after it: one after the other in the same memory.
TEST(ShardTest, TheFirstStepHasOneBucketOfAllGradients) {
  constexpr uint64_t kEach = 3 << 20, kAll = 64 * kEach;
  EqualParameters network(kEach, kEach, kEach);
  for (StepBlock& block : network.step.blocks) block.id = model::kNone;  // not from a recorded run
  Operand given;
  given.dtype = 6;
  // No recorded operator uses the others, such as the predictor of V-JEPA 2 below its classifier: they are
  // sent too.
  for (given.block = 0; given.block < 48; given.block = given.block.Next())
    network.step.operands.push_back(given);
  const Step replicated = network.Sharded("ddp:8");
  ASSERT_EQ(replicated.passing.size(), 2u);
  const Passing& broadcast = replicated.passing[0];
  const Passing& bucket = replicated.passing[1];
  EXPECT_EQ(broadcast.bytes, kAll);
  EXPECT_LT(broadcast.end, bucket.begin);
  EXPECT_EQ(bucket.bytes, kAll);
  EXPECT_LT(bucket.begin, 0);
  EXPECT_EQ(bucket.end, replicated.length) << "where the second step calls the model";
  const auto reserved = [](const Step& step) { return ReplayScene(MakeScene(step), step)->reserved_peak; };
  EXPECT_EQ(reserved(replicated) - reserved(network.step), kAll);
}

TEST(ShardTest, WholeParametersAreDealtOutEvenly) {
  const EqualParameters network(512, 512, 1024);
  EXPECT_EQ(network.Sharded("zero1:4").trained.size(), 16u);
  EXPECT_EQ(Alive(network.Sharded("zero1:4"), Category::kOptimizerState, kStepping), 16u * 1024);
  EXPECT_EQ(network.Sharded("zero1:48").trained.size(), 2u) << "the rank that has most";
}

// The optimizer receives the parameters in that order, and creates their state in the same order.
TEST(ShardTest, ARankStepsItsLargestParameterFirst) {
  EqualParameters network(512, 512, 512);
  for (StepBlock& block : network.step.blocks)
    if (block.name == "p30" || block.name == "exp_avg of p30") block.requested = 2048;
  const Step shared = network.Sharded("zero1:2");
  const auto first = std::find_if(shared.blocks.begin(), shared.blocks.end(), [](const StepBlock& block) {
    return block.category == Category::kOptimizerState && block.requested != 0;
  });
  ASSERT_NE(first, shared.blocks.end());
  EXPECT_EQ(first->name, "exp_avg of p30");
  EXPECT_EQ(first->requested, 2048u);
  EXPECT_LT(first->id, 128u + 30u) << "where another one's was recorded";
}

// Audio models let their input require a gradient, so that checkpointed layers have an input with a gradient.
TEST(TrainedTest, ABatchThatRequiresAGradientIsNoParameter) {
  model::testing::Script s;
  s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
  s.Alloc("weight", 512).Parameter("weight", "fc.weight");
  for (uint64_t number = 1; number <= 3; ++number) {
    if (number == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
    s.Data([&] { s.Alloc("batch", 1024); });
    s.Op("aten::mm", [&] { s.NodeCreated(number); });
    s.Backward([&] {
      s.Node("MmBackward0", number, [&] { s.Alloc("of weight", 512).Alloc("of batch", 1024); });
      s.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence,
             [&] { s.Gradient("of weight", "weight").Gradient("of batch", "batch"); });
    });
    s.Optimizer("SGD", [&] {});
    s.Mark(trace::MarkKind::kOptimizerStepDone, number, "SGD");
    s.Free("of weight").Free("of batch").Free("batch");
  }
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  const Step step = ReadStep(analysis, 0).value();
  ASSERT_EQ(step.trained.size(), 1u);
  EXPECT_EQ(step.blocks[step.trained.front()].name, "fc.weight");
}

// For example a pooler, if the loss only depends on the words: its nodes are created and never run.
TEST(TrainedTest, AParameterThatGetsNoGradientIsNotTrained) {
  model::testing::Script s;
  s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
  s.Alloc("weight", 512).Parameter("weight", "fc.weight").Alloc("pooler", 512).Parameter("pooler", "pooler");
  for (uint64_t number = 1; number <= 3; ++number) {
    if (number == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
    s.Data([&] { s.Alloc("batch", 1024); });
    s.Op("aten::mm", [&] { s.NodeCreated(number); });
    for (const char* const parameter : {"weight", "pooler"})
      s.Label(parameter, trace::Role::kParameter, trace::LabelSource::kAccumulateGrad);
    s.Backward([&] {
      s.Node("MmBackward0", number, [&] { s.Alloc("of weight", 512); });
      s.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence,
             [&] { s.Gradient("of weight", "weight"); });
    });
    s.Optimizer("SGD", [&] {});
    s.Mark(trace::MarkKind::kOptimizerStepDone, number, "SGD");
    s.Free("of weight").Free("batch");
  }
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  const Step step = ReadStep(analysis, 0).value();
  ASSERT_EQ(step.trained.size(), 1u);
  EXPECT_EQ(step.blocks[step.trained.front()].name, "fc.weight");
}

TEST(ShardTest, AStemInTheListOfBlocksIsGatheredForItself) {
  WrittenStep written;
  written.Module("layers.0", 10, 20);  // only one layer
  written.Module("layers.1", 20, 60);
  written.Module("layers.1.0", 30, 40, 1);
  written.Module("layers.2", 60, 80);
  written.Module("layers.2.0", 70, 75, 3);
  written.Module("head", 80, 90);
  EXPECT_THAT(ChooseSegments(written.step_, "all").value(), testing::ElementsAre(1, 3));
  EXPECT_THAT(ListMembers(written.step_), testing::ElementsAre(0, 1, 3));
  const std::vector<Unit> units = UnitsOf(written.step_, ListMembers(written.step_));
  ASSERT_EQ(units.size(), 4u);
  EXPECT_EQ(units.front().path, "layers.0");
  EXPECT_EQ(units.back().path, "");
}

TEST(ShardTest, AModelWithoutAListOfBlocksIsGatheredAsAWhole) {
  const EqualParameters network(512, 512, 512);
  EXPECT_TRUE(ListMembers(network.step).empty());
  const Step sharded = network.Sharded("fsdp:8");
  EXPECT_EQ(Alive(sharded, Category::kParameter, kComputing), 64u * 512 / 8);
  EXPECT_EQ(Alive(sharded, Category::kCommunication, kComputing), 64u * 512);
}

// For example LUKE's layers for entities, if the input has only words.
TEST(ShardTest, WhatGetsNoGradientIsGatheredAndNotReduced) {
  EqualParameters network(512, 512, 512);
  for (size_t i = 32; i < 64; ++i) Drop(network.step.blocks[64 + i]);
  const Step sharded = network.Sharded("fsdp:8");
  EXPECT_EQ(Alive(sharded, Category::kCommunication, kComputing), 64u * 512);
  EXPECT_EQ(Alive(sharded, Category::kGradient, kStepping), 32u * 512 / 8);
}

TEST(ShardTest, WhatIsNoWayToShardIsRefused) {
  EqualParameters network(512, 512, 512);
  network.step.modules.clear();  // without calls there are no units
  for (const char* value : {"ddp", "ddp:1", "ddp:8:layers", "zero4:8", "fsdp:x", "fsdp:8:", "fsdp:8"}) {
    const auto answer = ShardLever().Rewrite(network.step, value);
    ASSERT_TRUE(answer && !answer->ok()) << value;
    EXPECT_THAT(answer->error().sentence, testing::EndsWith(".")) << value;
  }
}

}  // namespace
}  // namespace vramscope::whatif
