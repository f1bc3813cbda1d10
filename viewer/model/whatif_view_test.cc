// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/whatif_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

using testing::ElementsAre;
using whatif::ModuleNode;

std::vector<std::string> Words(const WhatIfQuestion& question, const std::set<std::string>& blocks = {}) {
  std::vector<std::string> words;
  for (const whatif::Asked& one : AskedBy(question, blocks)) words.push_back(one.lever + "=" + one.value);
  return words;
}

TEST(WhatIfQuestionTest, AsRecordedAsksForNothing) {
  EXPECT_TRUE(AskedBy({}, {}).empty());
  WhatIfQuestion question;
  question.optimizer_way = "fused";  // of no optimizer
  EXPECT_TRUE(AskedBy(question, {}).empty());
}

TEST(WhatIfQuestionTest, EverySwitchIsALeverThatTheLibraryHas) {
  const WhatIfQuestion question{.shard = "fsdp",
                                .ranks = 4,
                                .checkpoints = {"layers.0", "layers.1"},
                                .optimizer = "adamw",
                                .optimizer_way = "fused",
                                .offload_optimizer = true,
                                .keep_gradients = true,
                                .settings = "expandable_segments:True",
                                .empty_cache = "after-step"};
  EXPECT_THAT(Words(question, {"layers.0", "layers.1"}),
              ElementsAre("shard=fsdp:4", "checkpoint=all", "offload=optimizer", "optimizer=adamw:fused",
                          "zero-grad=keep", "alloc-conf=expandable_segments:True", "empty-cache=after-step"));
  EXPECT_EQ(Words(question, {"layers.0"})[1], "checkpoint=layers.0,layers.1");
  const auto asked = AskedBy(question, {});
  auto lever = whatif::Levers().begin();  // not every one has a control
  for (const whatif::Asked& one : asked) {
    while (lever != whatif::Levers().end() && one.lever != (*lever)->info().name) ++lever;
    EXPECT_NE(lever, whatif::Levers().end()) << one.lever;
  }
}

TEST(WhatIfQuestionTest, TheCommandCanBePastedIntoAShell) {
  EXPECT_EQ(CommandFor("run.vms", {{"batch", "8"}, {"checkpoint", "layers.*"}}),
            "vramscope whatif run.vms --batch 8 --checkpoint 'layers.*'");
  EXPECT_EQ(CommandFor("it's $here.vms", {}), "vramscope whatif 'it'\\''s $here.vms'");
}

// layers (a name) ─ layers.0 ─ layers.0.mlp, layers.1; head
std::vector<ModuleNode> Tree() {
  return {{"layers", model::kNone, 0, 0, 30},
          {"layers.0", 0, 1, 1, 20},
          {"layers.0.mlp", 1, 2, 1, 10},
          {"layers.1", 0, 1, 1, 10},
          {"head", model::kNone, 0, 1, 0}};
}

TEST(WhatIfQuestionTest, ANameStandsForTheModulesNextBelowIt) {
  const std::vector<ModuleNode> tree = Tree();
  std::set<std::string> ticked;
  SetTick(tree, 0, true, ticked);
  EXPECT_THAT(ticked, ElementsAre("layers.0", "layers.1"));
  EXPECT_EQ(TickOf(tree, 0, ticked), Tick::kOn);
  EXPECT_TRUE(TickedAbove(tree, 2, ticked));
  EXPECT_EQ(TickOf(tree, 2, ticked), Tick::kOn);
  SetTick(tree, 3, false, ticked);
  EXPECT_EQ(TickOf(tree, 0, ticked), Tick::kSome);
  EXPECT_EQ(TickOf(tree, 4, ticked), Tick::kOff);
  SetTick(tree, 0, false, ticked);
  EXPECT_TRUE(ticked.empty());
}

TEST(WhatIfQuestionTest, AModuleThatIsTickedTakesThoseBelowItWithIt) {
  const std::vector<ModuleNode> tree = Tree();
  std::set<std::string> ticked = {"layers.0.mlp"};
  EXPECT_EQ(TickOf(tree, 1, ticked), Tick::kSome);
  SetTick(tree, 1, true, ticked);
  EXPECT_THAT(ticked, ElementsAre("layers.0"));
}

// Oracle: for each column all moments of the step are asked.
TEST(WhatIfViewTest, NoPeakOfTheStepIsLostAtAnyWidth) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 60; ++round) {
    whatif::UseOverStep use;
    use.length = static_cast<int64_t>(1 + random() % 1000);
    std::vector<int64_t> places = {0};
    for (size_t i = random() % 300; i > 0; --i)
      places.push_back(use.length * static_cast<int64_t>(random() % 4097) / 4096);
    std::sort(places.begin(), places.end());
    for (const int64_t at : places) use.points.push_back({at, random() % 1000, random() % 1000, {}});
    const int64_t whole = use.length * static_cast<int64_t>(1 + random() % 3);
    const auto length = static_cast<double>(use.length);
    const size_t columns = 1 + random() % 200;
    const std::vector<StepColumn> drawn = ColumnsOf(use, whole, columns);
    uint64_t most = 0, most_drawn = 0, reserved = 0, reserved_drawn = 0;
    for (const whatif::UseAt& point : use.points) {
      most = std::max(most, point.allocated);
      reserved = std::max(reserved, point.reserved);
    }
    for (size_t i = 0; i < columns; ++i) {
      const auto place = [&](size_t column) {
        return static_cast<double>(whole) * static_cast<double>(column) / static_cast<double>(columns);
      };
      const double begin = place(i), end = place(i + 1);
      ASSERT_EQ(drawn[i].most != nullptr, begin < length);
      if (drawn[i].most == nullptr) continue;
      most_drawn = std::max(most_drawn, drawn[i].most->allocated);
      reserved_drawn = std::max(reserved_drawn, drawn[i].reserved);
      uint64_t expected = 0;
      for (size_t p = 0; p < use.points.size(); ++p) {
        const auto at = static_cast<double>(use.points[p].at.event);
        const auto until =
            p + 1 < use.points.size() ? static_cast<double>(use.points[p + 1].at.event) : length;
        const bool held = at < end && until >= begin;
        const bool at_the_end = at >= length && end >= length;
        if (held || at_the_end) expected = std::max(expected, use.points[p].allocated);
      }
      ASSERT_LE(drawn[i].most->allocated, expected);
    }
    ASSERT_EQ(most_drawn, most);
    ASSERT_EQ(reserved_drawn, reserved);
  }
}

// A run without a step for what-if. A question about it is still kept, and dropped, as for any other run.
std::unique_ptr<Document> SmallDocument() {
  model::testing::Script script;
  script.Device(model::testing::kCuda0).Alloc("a", 100);
  return MakeDocument("run.vms", script.Load(), nullptr);
}

TEST(WhatIfViewTest, AQuestionStaysWhenItsFileHasGrownAndGoesWithTheFile) {
  const auto before = SmallDocument();
  const auto grown = SmallDocument();
  const auto other = SmallDocument();
  WhatIfView view;
  view.Update(*before, *before->devices[0], [] {});
  view.question.optimizer = "sgd";
  view.fit().into = "24";
  view.Forget();
  view.Update(*grown, *grown->devices[0], [] {});
  EXPECT_EQ(view.question.optimizer, "sgd");
  EXPECT_EQ(view.fit().into, "24");
  view.Update(*other, *other->devices[0], [] {});
  EXPECT_EQ(view.question, WhatIfQuestion());
  EXPECT_EQ(view.fit().into, "");
}

}  // namespace
}  // namespace vramscope::viewer
