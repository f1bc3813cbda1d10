// SPDX-License-Identifier: Apache-2.0
// Oracle: each loop keeps what the test says, and nothing else.
#include "profiler/leaks/growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profiler/growth/words.h"
#include "profiler/model/testing/script.h"

namespace vramscope::leaks {
namespace {

using model::testing::Script;
using ::testing::HasSubstr;

constexpr int kSteps = 12;

// A training loop of `steps`. `in_step` may allocate in the forward of each step, `after_step` after it.
Script Loop(
    const std::function<void(Script&, int)>& in_step, int steps = kSteps,
    const std::function<void(Script&, int)>& after_step = [](Script&, int) {}) {
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "fc.weight");
  for (int step = 1; step <= steps; ++step) {
    const std::string number = std::to_string(step);
    s.Data([&] { s.Alloc("batch" + number, 64); });
    in_step(s, step);
    s.Alloc("hidden", 128).Saved("hidden");
    s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
    s.Optimizer("SGD", [&] {});
    s.Free("grad").Free("batch" + number);
    after_step(s, step);
  }
  return s;
}

Answer Judge(const Script& script) {
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  return *FindGrowth(analysis, {});
}

TEST(GrowthTest, ALoopThatFreesEverythingDoesNotGrow) {
  const Answer answer = Judge(Loop([](Script&, int) {}));
  EXPECT_TRUE(answer.leaks.empty());
  EXPECT_TRUE(answer.settled.empty());
  EXPECT_EQ(answer.bytes_per_step, 0);
  EXPECT_EQ(answer.first_judged, 3u);
  EXPECT_EQ(answer.last_judged, 10u);
}

TEST(GrowthTest, WhatEachStepKeepsIsALeakWithItsLine) {
  const Answer answer = Judge(Loop([](Script& s, int step) {
    s.Stack({"main (train.py:3)", "train (train.py:42)"}).Alloc("kept" + std::to_string(step), 96);
  }));
  ASSERT_EQ(answer.leaks.size(), 1u);
  const Growth& leak = answer.leaks[0];
  EXPECT_EQ(leak.line, "train (train.py:42)");
  EXPECT_EQ(leak.bytes_per_step, 96u);
  EXPECT_EQ(leak.first_step, 1u);
  EXPECT_EQ(leak.every, 1u);
  ASSERT_EQ(leak.kept.size(), answer.steps);
  EXPECT_EQ(leak.kept.back(), (StepBytes{answer.steps, 96}));
  ASSERT_EQ(answer.ends.size(), answer.steps);  // when a step ends, its gradient and batch still exist
  EXPECT_EQ(answer.ends[0], (StepBytes{1, 400 + 96 + 400 + 64}));
  EXPECT_EQ(answer.ends[9].bytes, 400u + 10 * 96 + 400 + 64);
  EXPECT_EQ(leak.keeper, Keeper::kProgram);
  EXPECT_EQ(answer.bytes_per_step, 96);
}

TEST(GrowthTest, AGraphThatIsKeptIsOneLeakOfAllItsTensors) {
  const Answer answer = Judge(Loop([](Script& s, int step) {
    for (const std::string tensor : {"a", "b", "c"}) {
      const std::string name = tensor + std::to_string(step);
      s.Stack({"forward (model.py:" + std::to_string(tensor[0]) + ")"}).Alloc(name, 32).Saved(name);
    }
  }));
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].keeper, Keeper::kGraph);
  EXPECT_EQ(answer.leaks[0].places, 3u);
  EXPECT_EQ(answer.leaks[0].bytes_per_step, 96u);
}

TEST(GrowthTest, WhatIsMadeOnceIsNoGrowth) {
  const Answer answer = Judge(Loop([](Script& s, int step) {
    if (step == 1) s.Alloc("state", 400);
  }));
  EXPECT_TRUE(answer.leaks.empty());
  EXPECT_TRUE(answer.settled.empty());
}

TEST(GrowthTest, ACacheThatFillsAndStopsHasSettled) {
  const Answer answer = Judge(Loop([](Script& s, int step) {
    if (step <= 5) s.Alloc("cached" + std::to_string(step), 400);
  }));
  EXPECT_TRUE(answer.leaks.empty());
  ASSERT_EQ(answer.settled.size(), 1u);
  EXPECT_EQ(answer.settled[0].last_step, 5u);
}

TEST(GrowthTest, WhatIsFetchedAheadIsOnItsWay) {
  const Answer answer = Judge(Loop([](Script& s, int step) {
    s.Alloc("ahead" + std::to_string(step), 64);
    if (step > 1) s.Free("ahead" + std::to_string(step - 1));
  }));
  EXPECT_TRUE(answer.leaks.empty());
}

TEST(GrowthTest, ALeakAtEveryThirdStepIsSeen) {
  const Answer answer = Judge(Loop(
      [](Script& s, int step) {
        if (step % 3 == 0) s.Alloc("logged" + std::to_string(step), 90);
      },
      24));
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].steps, 8u) << "steps 3 to 24";
  EXPECT_EQ(answer.leaks[0].every, 3u);
  EXPECT_EQ(answer.leaks[0].bytes_per_step, 30u);
}

TEST(GrowthTest, AnEpochsLeakIsCountedByTheEpochAndByWhatWasAskedFor) {
  const Answer answer = Judge(Loop(
      [](Script& s, int step) {
        if (step % 6 == 1 && step > 1)
          s.Stack({"validate (train.py:30)"}).Alloc("validation" + std::to_string(step), 1024, 1000);
      },
      24));
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].every, 6u);
  EXPECT_EQ(answer.leaks[0].bytes_each_time, 1000u);
  EXPECT_EQ(answer.leaks[0].line, "validate (train.py:30)");
  EXPECT_EQ(growth::Headline(answer.leaks), "Memory grows by 1000 B every 6 steps, from 1 place.");
}

// A validation that keeps its loss: the input is allocated before the next step is known to begin, the rest
// after.
TEST(GrowthTest, AGraphOnBothSidesOfAStepsEndIsOneLeakWithTheRateOfAllItsTensors) {
  const auto validate = [](Script& s, int epoch) {
    const std::string number = std::to_string(epoch);
    s.Alloc("activation" + number, 2000).Saved("activation" + number);
    s.Alloc("passes" + number, 3000).Free("passes" + number).Alloc("loss" + number, 4);
  };
  Script s = Loop(
      [&](Script& t, int step) {
        if (step % 6 == 1 && step > 1) validate(t, step / 6);
      },
      24,
      [](Script& t, int step) {
        const std::string number = std::to_string(step / 6);
        if (step % 6 == 0) t.Alloc("input" + number, 1000).Saved("input" + number);
      });
  s.Data([&] { s.Alloc("batch25", 64); });
  validate(s, 4);
  for (const char* end : {"input", "activation", "loss"})
    for (int epoch = 1; epoch <= 4; ++epoch) s.Free(end + std::to_string(epoch));
  const Answer answer = Judge(s);
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].every, 6u);
  EXPECT_EQ(answer.leaks[0].steps, 4u);
  EXPECT_EQ(answer.leaks[0].bytes_each_time, 3004u);
  EXPECT_EQ(answer.leaks[0].keeper, Keeper::kGraph);
}

TEST(GrowthTest, ThreeEpochsOfThreeStepsAreEnoughAndTheLastMayComeAfterTheLoop) {
  Script s = Loop(
      [](Script& t, int step) {
        if (step == 4 || step == 7) t.Alloc("validation" + std::to_string(step), 1000);
      },
      9);
  s.Data([&] { s.Alloc("batch10", 64); });
  s.Alloc("validation10", 1000).Alloc("hidden", 128).Saved("hidden").Released("hidden").Free("hidden");
  const Answer answer = Judge(s);
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].every, 3u);
  EXPECT_EQ(answer.leaks[0].bytes, 3000u);
}

TEST(GrowthTest, FewLongStepsThatEachKeepSomethingGrow) {
  const Answer answer =
      Judge(Loop([](Script& s, int step) { s.Alloc("kept" + std::to_string(step), 96); }, 3));
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].bytes_per_step, 96u);
}

TEST(GrowthTest, WhatIsFetchedTwoStepsAheadIsNoGrowthOfFewSteps) {
  for (const int steps : {4, 6}) {  // with three steps, it looks like something that each of them keeps
    Script s;
    s.Alloc("weight", 400).Parameter("weight", "fc.weight").Alloc("ahead1", 64).Alloc("ahead2", 64);
    for (int step = 1; step <= steps; ++step) {
      s.Data([&] { s.Alloc("ahead" + std::to_string(step + 2), 64); });
      s.Alloc("hidden", 128).Saved("hidden");
      s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
      s.Optimizer("SGD", [&] {});
      s.Free("grad").Free("ahead" + std::to_string(step));
    }
    EXPECT_TRUE(Judge(s).leaks.empty()) << steps;
  }
}

TEST(GrowthTest, ATensorThatItsOwnGradientLeadsBackToIsInACycle) {
  const auto keep = [](bool create_graph) {
    return Judge(Loop([=](Script& s, int step) {
      const std::string x = "x" + std::to_string(step);
      s.Alloc(x, 96).Saved(x);
      s.Alloc("product", 32).Saved("product");
      s.Backward([&] {
        s.Alloc("of" + x, 96).Released(x).Gradient("of" + x, x);
        if (create_graph) s.Alloc("derivative", 32).Saved("derivative");
      });
      if (create_graph) s.Released("derivative").Free("derivative");
      s.Released("product").Free("product");
    }));
  };
  const Answer cycle = keep(true);
  ASSERT_EQ(cycle.leaks.size(), 2u) << "the tensor and its gradient";
  for (const Growth& leak : cycle.leaks) EXPECT_EQ(leak.keeper, Keeper::kCycle);
  const Answer list = keep(false);
  ASSERT_EQ(list.leaks.size(), 2u);
  for (const Growth& leak : list.leaks) EXPECT_EQ(leak.keeper, Keeper::kProgram);
}

// x = torch.cat([x, y]) after each step.
Script Concatenating(const std::function<uint64_t(int)>& bytes) {
  return Loop([](Script&, int) {}, kSteps,
              [=](Script& s, int step) {
                s.Stack({"train (train.py:8)"}).Alloc("joined" + std::to_string(step), bytes(step));
                if (step > 1) s.Free("joined" + std::to_string(step - 1));
              });
}

TEST(GrowthTest, ATensorThatIsMadeAnewAndLargerInEachStepGrows) {
  const Answer answer = Judge(Concatenating([](int step) { return 100u * static_cast<unsigned>(step); }));
  ASSERT_EQ(answer.leaks.size(), 1u);
  EXPECT_EQ(answer.leaks[0].keeper, Keeper::kReplaced);
  EXPECT_EQ(answer.leaks[0].bytes_per_step, 100u);
  EXPECT_EQ(answer.leaks[0].every, 1u);
  EXPECT_EQ(answer.leaks[0].line, "train (train.py:8)");
  EXPECT_TRUE(Judge(Concatenating([](int) { return 100u; })).leaks.empty());
  EXPECT_TRUE(Judge(Concatenating([](int step) { return step % 2 == 0 ? 200u : 100u; })).leaks.empty());
}

TEST(GrowthTest, FewStepsCannotBeJudged) {
  const Script script = Loop([](Script&, int) {}, 2);
  const model::Run run = script.Load();
  const classify::Analysis analysis(run);
  const auto answer = FindGrowth(analysis, {});
  ASSERT_FALSE(answer.ok());
  EXPECT_THAT(answer.error().sentence, HasSubstr("2 finished steps"));
}

TEST(GrowthTest, TheJsonFormHasTheSameNumbers) {
  const Answer answer = Judge(Loop([](Script& s, int step) { s.Alloc("kept" + std::to_string(step), 96); }));
  const auto json = nlohmann::json::parse(ToJson(answer));
  EXPECT_EQ(json["leaks"][0]["bytes_per_step"], 96);
  EXPECT_EQ(json["leaks"][0]["line"], nullptr);
  EXPECT_EQ(json["leaks"][0]["kept_by"], "program");
}

}  // namespace
}  // namespace vramscope::leaks
