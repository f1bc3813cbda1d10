// SPDX-License-Identifier: Apache-2.0
// A loop of four steps. Each leaves a block that nothing frees, as reference cycles do until Python collects
// them.
#include "profiler/whatif/step/piling_up.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "profiler/whatif/answer/predict.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/tensor_script.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr uint64_t kBytes = 4096, kLeft = 3 * kBytes, kKept = 5 * kBytes;

constexpr int kSteps = 4;

// What a loop does with these blocks: it leaves them, uses them, or frees that of its last step.
enum class With { kNothing, kUse, kFree };

// `each`: the steps that leave a block. The second step also allocates a block of another size that stays.
class PilingLoop : public TensorScript {
 public:
  explicit PilingLoop(const std::vector<int>& each = {1, 2, 3, 4}, With with = With::kNothing,
                      int steps = kSteps) {
    s.Device(model::testing::kCuda0).TotalsAre(0, 2 << 20);
    s.Alloc("weight", kBytes).Parameter("weight", "linear.weight");
    s.Alloc("before", kLeft);
    for (int number = 1; number <= steps; ++number) {
      if (number == 2) s.Mark(trace::MarkKind::kDeepBegin, 2);
      const bool leaves = std::find(each.begin(), each.end(), number) != each.end();
      Step(number, leaves, with == With::kUse, with == With::kFree && number == steps);
    }
    run_ = s.Load();
    analysis_.emplace(run_);
    step_ = ReadStep(*analysis_, 0).value();
  }

  // The blocks with that flag, by the step that allocated them.
  [[nodiscard]] std::vector<std::string> That(bool StepBlock::*said) const {
    std::vector<std::string> names;
    for (const StepBlock& block : step_.blocks)
      if (block.*said) names.push_back(NameOf(block));
    return names;
  }
  [[nodiscard]] std::string NameOf(const StepBlock& block) const {
    for (const char* name : {"weight", "before", "kept", "out", "batch"})
      if (block.id == s.Id(name)) return name;
    for (const std::string& name : left_)
      if (block.id == s.Id(name)) return name;
    return "";
  }
  [[nodiscard]] const whatif::Step& step() const { return step_; }
  // The notes of two levers that do not affect these blocks, in order.
  [[nodiscard]] std::vector<std::vector<std::string>> Told(const whatif::Step& step) const {
    const Baseline baseline = MakeBaseline(step, *analysis_).value();
    const Prediction prediction =
        Predict(step, baseline, {{"alloc-conf", "expandable_segments:True"}, {"empty-cache", "after-step"}})
            .value();
    std::vector<std::vector<std::string>> notes;
    for (const Applied& lever : prediction.levers) notes.push_back(lever.outcome.notes);
    return notes;
  }
  [[nodiscard]] Block& In(Scene& scene, const std::string& name) const {
    return *std::find_if(scene.blocks.begin(), scene.blocks.end(), [&](const Block& block) {
      return block.origin != kNone && NameOf(step_.blocks[block.origin]) == name;
    });
  }

 private:
  void Make(const std::string& op, const std::string& result, uint64_t bytes) {
    const std::string elements = std::to_string(bytes / 4);
    s.Op(op, [&] {
      TensorScript::In("batch", "1024", "1");
      s.Alloc(result, bytes);
      Out(result, elements.c_str(), "1");
    });
  }
  void Step(int number, bool leaves, bool used, bool freed) {
    const auto sequence = static_cast<uint64_t>(number);
    s.Data([&] { s.Alloc("batch", kBytes); });
    s.Label("batch", trace::Role::kInput, trace::LabelSource::kDataLoader);
    s.Module("linear", [&] {
      s.Op("aten::mm", [&] {
        s.NodeCreated(sequence);
        TensorScript::In("batch", "1024", "1");
        TensorScript::In("weight", "1024", "1", 1);
        for (const std::string& left : left_)
          if (used) TensorScript::In(left, "3072", "1", 2);
        s.Alloc("out", kBytes);
        Out("out", "1024", "1");
      });
      if (leaves) {
        left_.push_back("left" + std::to_string(number));
        Make("aten::clamp", left_.back(), kLeft);
      }
      if (number == 2) Make("aten::cos", "kept", kKept);
    });
    s.Backward([&] {
      s.Node("MmBackward0", sequence, [&] { s.Alloc("gradient", kBytes); });
      s.Node("torch::autograd::AccumulateGrad", trace::node::kNoSequence,
             [&] { s.Gradient("gradient", "weight"); });
    });
    if (freed) s.Free(left_.back());
    s.Optimizer("SGD", [&] {});
    s.Mark(trace::MarkKind::kOptimizerStepDone, sequence, "SGD");
    s.Free("gradient").Free("out").Free("batch");
  }

  std::vector<std::string> left_;
  model::Run run_;
  std::optional<classify::Analysis> analysis_;
  whatif::Step step_;
};

TEST(PilingUpTest, WhatEachStepLeavesIsFoundInAllOfThem) {
  const PilingLoop loop;
  ASSERT_EQ(loop.step().number, 4u);
  EXPECT_THAT(loop.That(&StepBlock::piles_up), ElementsAre("left4"));
  EXPECT_THAT(loop.That(&StepBlock::piled), ElementsAre("left1", "left2", "left3"))
      << "neither what was there before the loop nor what one step made";
}

TEST(PilingUpTest, WhatTheStepBeforeDidNotLeaveDoesNotPileUp) {
  for (const std::vector<int>& each :
       {std::vector{4}, std::vector{1, 2}, std::vector{3}, std::vector{2, 4}}) {
    const PilingLoop loop(each);
    EXPECT_THAT(loop.That(&StepBlock::piles_up), IsEmpty());
    EXPECT_THAT(loop.That(&StepBlock::piled), IsEmpty());
  }
}

// A queue of results of the last steps.
TEST(PilingUpTest, WhatTheStepWorksOnWasLeftOnPurpose) {
  const PilingLoop loop({1, 2, 3, 4}, With::kUse);
  EXPECT_THAT(loop.That(&StepBlock::piles_up), IsEmpty());
}

TEST(PilingUpTest, WhatTheStepItselfFreesDoesNotPileUp) {
  const PilingLoop loop({1, 2, 3, 4}, With::kFree);
  EXPECT_THAT(loop.That(&StepBlock::piles_up), IsEmpty());
  EXPECT_THAT(loop.That(&StepBlock::piled), IsEmpty());
}

// The blocks that a long loop left exist in each of a replay's four steps, except for the three that these
// steps leave themselves.
TEST(PilingUpTest, OfALongLoopOnlyAsManyGoAsAReplayMakesAnew) {
  const PilingLoop loop({1, 2, 3, 4, 5, 6, 7}, With::kNothing, 7);
  ASSERT_EQ(loop.step().number, 7u);
  EXPECT_THAT(loop.That(&StepBlock::piles_up), ElementsAre("left7"));
  EXPECT_THAT(loop.That(&StepBlock::piled), ElementsAre("left4", "left5", "left6"));
}

TEST(PilingUpTest, WhatOlderStepsLeftIsNotThereWhenTheLoopBegins) {
  const PilingLoop loop;
  const Scene scene = MakeScene(loop.step());
  std::vector<std::string> names;
  for (const Block& block : scene.blocks)
    if (block.origin != kNone && block.bytes == kLeft)
      names.push_back(loop.NameOf(loop.step().blocks[block.origin]));
  EXPECT_THAT(names, testing::UnorderedElementsAre("before", "left4"));
}

// The replay runs four steps: three more of these blocks exist in the last one.
TEST(PilingUpTest, EachStepOfAReplayLeavesOneMore) {
  const PilingLoop loop;
  Scene scene = MakeScene(loop.step());
  const auto peak = [&] { return ReplayScene(scene, loop.step())->allocated_peak; };
  const uint64_t with = peak();
  EXPECT_EQ(with, 4 * kBytes + kLeft + kKept + 4 * kLeft)
      << "weight, batch, out and gradient, and what is left";
  loop.In(scene, "left4").bytes = 0;
  EXPECT_EQ(with - peak(), 4 * kLeft);
}

TEST(PilingUpTest, ANoteBesideTheFirstLeverSaysHowMuchEachStepLeaves) {
  const auto leaves = [](const char* what) {
    return testing::StartsWith(std::string("each step leaves ") + what + " together that nothing frees");
  };
  const PilingLoop loop;
  EXPECT_THAT(loop.Told(loop.step()), ElementsAre(Contains(leaves("1 block of 12288 bytes")),
                                                  Each(Not(leaves("1 block of 12288 bytes")))));
  Step two = loop.step();
  for (StepBlock& block : two.blocks)
    if (loop.NameOf(block) == "out") block.piles_up = true;
  EXPECT_THAT(loop.Told(two)[0], Contains(leaves("2 blocks of 16384 bytes")));
}

TEST(PilingUpTest, WhereNothingPilesUpThereIsNoNote) {
  const PilingLoop loop({1, 2});
  const auto told = loop.Told(loop.step());
  ASSERT_EQ(told.size(), 2u);
  for (const std::vector<std::string>& notes : told)
    EXPECT_THAT(notes, Each(Not(HasSubstr("nothing frees"))));
}

TEST(PilingUpTest, FreeingEarlyDoesNotFreeIt) {
  const PilingLoop loop;
  Scene scene = MakeScene(loop.step());
  const Position end = loop.In(scene, "left4").end;
  ASSERT_TRUE(FreeEarlyLever().Apply(loop.step(), "all", scene).ok()) << "the batch goes";
  EXPECT_EQ(loop.In(scene, "left4").end, end);
}

}  // namespace
}  // namespace vramscope::whatif
