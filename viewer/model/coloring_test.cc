// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/coloring.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

using model::testing::Script;

class ColoringTest : public testing::Test {
 protected:
  void Open(const Script& script) {
    document_ = MakeDocument("colors.vms", script.Load(), nullptr);
    origins_ = std::make_unique<classify::Origins>(*document_->run, document_->analysis->training());
  }
  std::vector<std::string> Paint(Coloring by, const std::vector<model::BlockId>& ids,
                                 std::optional<model::EventIndex> moment = std::nullopt) {
    std::vector<ColoredBlock> blocks;
    for (const model::BlockId id : ids) {
      const uint64_t bytes = id == model::kNone ? 64 : document_->run->blocks[id].size;
      blocks.push_back({id, bytes, classify::Category::kActivation});
    }
    std::vector<std::string> texts;
    for (const uint8_t entry : colors_.Paint(*document_, document_->training(*document_->devices[0]),
                                             *origins_, by, moment, blocks)) {
      texts.push_back(colors_.legend()[entry].text);
    }
    return texts;
  }
  uint32_t RgbOf(const std::string& text) const {
    for (const LegendEntry& entry : colors_.legend()) {
      if (entry.text == text) return entry.rgb;
    }
    return 0;
  }

  std::unique_ptr<Document> document_;
  std::unique_ptr<classify::Origins> origins_;
  BlockColors colors_;
};

using Texts = std::vector<std::string>;

TEST_F(ColoringTest, ABlockIsAsOldAsTheMomentOrItsEndSays) {
  Script s;
  s.At(0).Alloc("long", 100).At(2'000'000).Alloc("short", 200).At(2'500'000).Free("short");
  s.At(50'000'000).Alloc("late", 300);
  Open(s);
  const std::vector<model::BlockId> all = {s.Id("long"), s.Id("short"), s.Id("late")};
  EXPECT_EQ(Paint(Coloring::kAge, all), (Texts{"under 100 ms", "under 1 ms", "under 1 ms"}));
  EXPECT_EQ(colors_.legend()[0].text, "under 1 ms");  // in order of age
  EXPECT_EQ(colors_.legend()[0].bytes, 500u);
  EXPECT_EQ(Paint(Coloring::kAge, {s.Id("long")}, s.last_event() - 1), (Texts{"under 10 ms"}));
}

TEST_F(ColoringTest, SizesFallIntoClassesWithTheirUpperEndIn) {
  Script s;
  s.Alloc("page", 4096).Alloc("more", 4097).Alloc("mib", 1 << 20).Alloc("huge", uint64_t{1} << 30);
  Open(s);
  EXPECT_EQ(Paint(Coloring::kSize, {s.Id("page"), s.Id("more"), s.Id("mib"), s.Id("huge")}),
            (Texts{"up to 4 KiB", "up to 64 KiB", "up to 1 MiB", "larger"}));
}

TEST_F(ColoringTest, LinesBeyondTheLargestAreOthersAndTheLegendAddsUp) {
  Script s;
  std::vector<model::BlockId> ids;
  uint64_t bytes = 0;
  for (int i = 0; i < 12; ++i) {
    const std::string name = "b" + std::to_string(i);
    s.Stack({"/src/train.py:1 main", "/src/model.py:" + std::to_string(i) + " forward"});
    s.Alloc(name, 1000 - static_cast<uint64_t>(i));
    bytes += 1000 - static_cast<uint64_t>(i);
    ids.push_back(s.Id(name));
  }
  s.Alloc("bare", 5);  // without a stack
  ids.push_back(s.Id("bare"));
  Open(s);
  const Texts texts = Paint(Coloring::kStack, ids);
  EXPECT_EQ(texts[0], "model.py:0 forward");
  EXPECT_EQ(texts[6], "model.py:6 forward");
  for (size_t i = 7; i < 12; ++i) EXPECT_EQ(texts[i], "others");
  EXPECT_EQ(texts[12], "not recorded");
  EXPECT_EQ(colors_.legend().size(), 9u);
  EXPECT_EQ(colors_.legend().back().text, "not recorded");
  uint64_t sum = 0;
  for (const LegendEntry& entry : colors_.legend()) sum += entry.bytes;
  EXPECT_EQ(sum, bytes + 5);
}

TEST_F(ColoringTest, AClassKeepsItsColorWhenOthersComeAndGo) {
  Script s;
  for (const char* name : {"a", "b", "c"}) s.Stack({std::string(name) + ".py:1 f"}).Alloc(name, 10);
  Open(s);
  (void)Paint(Coloring::kStack, {s.Id("a"), s.Id("b")});
  const uint32_t b = RgbOf("b.py:1 f");
  (void)Paint(Coloring::kStack, {s.Id("b"), s.Id("c")});
  EXPECT_EQ(RgbOf("b.py:1 f"), b);
  EXPECT_NE(RgbOf("c.py:1 f"), b);
}

TEST_F(ColoringTest, StepsAndBlocksOlderThanTheFile) {
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "w");
  for (int step = 0; step < 2; ++step) {
    s.Alloc("hidden", 100).Saved("hidden");
    s.Backward([&] { s.Alloc("grad", 400).Gradient("grad", "weight").Released("hidden").Free("hidden"); });
    s.Optimizer("SGD", [&] { s.Alloc("t", 8).Free("t"); });
    s.Free("grad");
  }
  Open(s);
  EXPECT_EQ(Paint(Coloring::kStep, {s.Id("weight"), s.Id("grad", 1), s.Id("grad", 2), model::kNone}),
            (Texts{"outside of all steps", "step 1", "step 2", "outside of all steps"}));
  EXPECT_EQ(Paint(Coloring::kStream, {s.Id("weight"), model::kNone}),
            (Texts{"default stream", "not recorded"}));
  EXPECT_EQ(Paint(Coloring::kCategory, {s.Id("weight")}), (Texts{"Activations"}));
}

}  // namespace
}  // namespace vramscope::viewer
