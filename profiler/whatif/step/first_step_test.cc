// SPDX-License-Identifier: Apache-2.0
// Allocations that only the loop's first step makes: a program of three steps whose first forward fills a
// cache, as DINOv3 does for its coordinates. Its batches do not come from a data loader.
//
//   step     batch ─► forward (cache, in the first)  backward  optimizer: state (in the first), temporary
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/windows.h"
#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {
namespace {

constexpr uint64_t kBatch = 2048, kTemporary = 8192, kState = 16384, kCached = 1024, kTable = 512;

class CachingProgram : public TensorScript {
 public:
  // `normed`: bytes that forward computes before it uses its cache; 0: nothing.
  explicit CachingProgram(int temporaries = 3, uint64_t normed = 0)
      : temporaries_(temporaries), normed_(normed) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("weight", kState).Parameter("weight", "linear.weight");
    for (int step = 1; step <= 3; ++step) Step(step);
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  whatif::Step step_;

 private:
  void Step(int step) {
    if (step == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
    s.Alloc("batch", kBatch);
    const auto number = static_cast<uint64_t>(step);
    s.Module("linear", [&] {
      if (normed_ != 0) s.Alloc("normed", normed_);
      for (int i = 0; step == 1 && i < temporaries_; ++i) s.Alloc("cached", kCached).Free("cached");
      if (step == 1) s.Alloc("table", kTable);
      s.Op("aten::mm", [&] {
        s.NodeCreated(number).Saved("batch").Saved("weight");
        In("batch", "8,64", "64,1");
        In("weight", "64,64", "1,64", 1);
        s.Alloc("out", kBatch);
        Out("out", "8,64", "64,1");
      });
    });
    s.Backward([&] { s.Node("MmBackward0", number, [&] { s.Released("batch").Released("weight"); }); });
    s.Optimizer("SGD", [&] {
      if (step == 1)
        s.Alloc("state", kState)
            .Label("state", trace::Role::kOptimizerState, trace::LabelSource::kOptimizer,
                   "momentum_buffer of linear.weight");
      s.Alloc("root", kTemporary).Free("root");
    });
    s.Mark(trace::MarkKind::kOptimizerStepDone, number, "SGD");
    s.Free("out").Free("batch");
    if (normed_ != 0) s.Free("normed");
  }

  int temporaries_;
  uint64_t normed_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
};

const Block& OfBytes(const Scene& scene, uint64_t bytes, Birth birth) {
  return *std::find_if(scene.blocks.begin(), scene.blocks.end(),
                       [&](const Block& block) { return block.bytes == bytes && block.birth == birth; });
}

TEST(FirstStepTest, StateComesBeforeWhatTheOptimizerWorksWithThoughTheFirstForwardMadeMore) {
  const CachingProgram program;
  const Scene scene = MakeScene(program.step_);
  const Block& state = OfBytes(scene, kState, Birth::kOnce);
  EXPECT_LT(state.begin, OfBytes(scene, kTemporary, Birth::kEachStep).begin);
  EXPECT_GE(state.begin, program.step_.optimizer.front().begin);
}

// freqs = [f.to(device) for f in self.freqs], once. The first step has no batch, because it begins with
// forward.
TEST(FirstStepTest, WhatTheFirstForwardKeepsComesBeforeAsManyAllocationsOfForward) {
  const CachingProgram program(0);
  const Scene scene = MakeScene(program.step_);
  const Block& table = OfBytes(scene, kTable, Birth::kOnce);
  const whatif::Step& step = program.step_;
  EXPECT_GT(table.begin, step.blocks[InputsOf(step, step.ops[0])[0].block].begin) << "the batch";
  EXPECT_LT(table.begin, step.blocks[OutputsOf(step, step.ops[0])[0].block].begin);
}

// self._table = values / counts.clamp(min=1), on first use. The table belongs after the norm and before the
// product, whatever the number of temporaries.
TEST(FirstStepTest, WhatTheFirstForwardKeepsComesBetweenTheAllocationsThatItWasBetween) {
  const CachingProgram program(3, kTemporary / 2);
  const Scene scene = MakeScene(program.step_);
  const Block& table = OfBytes(scene, kTable, Birth::kOnce);
  const whatif::Step& step = program.step_;
  EXPECT_GT(table.begin, OfBytes(scene, kTemporary / 2, Birth::kEachStep).begin);
  EXPECT_LT(table.begin, step.blocks[OutputsOf(step, step.ops[0])[0].block].begin);
}

// Each temporary is freed before the next one is allocated, and all come before the table.
TEST(FirstStepTest, ItsOwnTemporariesLeaveTheirHolesWhereItMadeThem) {
  const CachingProgram program(3, kTemporary / 2);
  const Scene scene = MakeScene(program.step_);
  std::vector<Position> moments = {OfBytes(scene, kTemporary / 2, Birth::kEachStep).begin};
  for (const Block& block : scene.blocks)
    if (block.bytes == kCached) moments.push_back(block.begin), moments.push_back(block.end);
  moments.push_back(OfBytes(scene, kTable, Birth::kOnce).begin);
  EXPECT_EQ(moments.size(), 8u);
  EXPECT_TRUE(std::ranges::is_sorted(moments, std::less_equal{}));
  EXPECT_EQ(LiveAt(scene, moments[1]), LiveAt(scene, moments[2])) << "they pass";
}

TEST(FirstStepTest, OfSeveralPartsTheFirstOneFillsTheCache) {
  const CachingProgram program(0);
  Scene scene = MakeScene(program.step_);
  ASSERT_TRUE(AccumulateLever().Apply(program.step_, "2:whole", scene).ok());
  std::vector<Position> results;
  for (const Block& block : scene.blocks)
    if (block.bytes == kBatch && block.origin == OutputsOf(program.step_, program.step_.ops[0])[0].block)
      results.push_back(block.begin);
  ASSERT_EQ(results.size(), 2);
  EXPECT_LT(OfBytes(scene, kTable, Birth::kOnce).begin, std::ranges::min(results));
  EXPECT_GT(OfBytes(scene, kState, Birth::kOnce).begin, std::ranges::max(results)) << "the optimizer's";
}

TEST(FirstStepTest, OfSeveralPartsTheFirstOneHasTheTemporariesOfTheCache) {
  const CachingProgram program(3, kTemporary / 2);
  Scene scene = MakeScene(program.step_);
  ASSERT_TRUE(AccumulateLever().Apply(program.step_, "2:whole", scene).ok());
  const Position table = OfBytes(scene, kTable, Birth::kOnce).begin;
  for (const Block& block : scene.blocks) {
    if (block.birth == Birth::kOnce && block.bytes == kCached) {
      EXPECT_LT(block.end, table);
    }
  }
}

// Each block of the batch leaves out only one equal block of the setup.
TEST(FirstStepTest, WhatElseTheSetupLeavesStaysInIt) {
  model::Run run;
  for (const uint64_t bytes : {kBatch, kCached}) {
    model::Block block;
    block.size = bytes;
    run.blocks.push_back(block);
  }
  Step step;
  step.run = &run;
  step.modules.push_back({0, {}, 10, 20});
  for (const Position begin : {3, 12}) {
    StepBlock& block = step.blocks.emplace_back();
    block.id = static_cast<model::BlockId>(step.blocks.size() - 1), block.begin = begin;
  }
  step.passing = {{-9, -1, kBatch, 0},
                  {-8, -1, kBatch, 0},
                  {-7, -1, kCached, 0},
                  {-6, -1, kBatch, 1},
                  {-5, -2, kBatch, 0}};
  LeaveOutFirstBatch(step);
  std::vector<Position> begins;
  for (const Passing& one : step.passing) begins.push_back(one.begin);
  EXPECT_EQ(begins, (std::vector<Position>{-8, -7, -6, -5}));
}

TEST(FirstStepTest, ItsBatchIsNotOfTheSetupToo) {
  const CachingProgram program;
  ASSERT_FALSE(program.step_.modules.empty());
  EXPECT_TRUE(program.step_.passing.empty());
}

}  // namespace
}  // namespace vramscope::whatif
