// SPDX-License-Identifier: Apache-2.0
#include "injector/core/intern.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>
#include <thread>

#include "injector/core/id_table.h"
#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

std::string TextOf(TestCollector& collector, uint32_t id) {
  collector.Drain();
  return collector.Text(TestRecord{.process = getpid(), .image = 0}, id);
}

TEST(InternTest, TheSameTextHasTheSameIdAndIsDefinedOnce) {
  TestCollector& collector = FreshCollector();
  const uint32_t id = InternString("layer.0.weight");
  EXPECT_NE(id, 0u);
  EXPECT_EQ(InternString("layer.0.weight"), id);
  EXPECT_NE(InternString("layer.0.weigh"), id);
  EXPECT_EQ(TextOf(collector, id), "layer.0.weight");
}

TEST(InternTest, AnEmptyTextAndOneWithAZeroByteAreTexts) {
  TestCollector& collector = FreshCollector();
  const uint32_t empty = InternString("", 0);
  const uint32_t zero = InternString("a\0b", 3);
  EXPECT_NE(empty, 0u);
  EXPECT_EQ(TextOf(collector, zero), std::string("a\0b", 3));
}

TEST(InternTest, ALongTextIsCutToWhatARecordHolds) {
  TestCollector& collector = FreshCollector();
  const std::string longest(trace::kRawMaxStringBytes + 100, 'x');
  const uint32_t id = InternString(longest.data(), longest.size());
  EXPECT_EQ(TextOf(collector, id), longest.substr(0, trace::kRawMaxStringBytes));
}

TEST(InternTest, ThreadsThatInternTheSameTextsAgreeOnTheIds) {
  TestCollector& collector = FreshCollector();
  constexpr int kThreads = 4;
  constexpr int kTexts = 2000;
  std::vector<std::vector<uint32_t>> ids(kThreads);
  std::atomic<int> running = kThreads;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int text = 0; text < kTexts; ++text)
        ids[i].push_back(InternString(("shared " + std::to_string(text)).c_str()));
      --running;
    });
  }
  while (running > 0) collector.Drain();
  threads.clear();
  for (int i = 1; i < kThreads; ++i) EXPECT_EQ(ids[i], ids[0]);
  for (int text = 0; text < kTexts; ++text)
    EXPECT_EQ(TextOf(collector, ids[0][text]), "shared " + std::to_string(text));
}

TEST(InternTest, AStackKeepsItsInnermostFrames) {
  TestCollector& collector = FreshCollector();
  std::vector<uint32_t> frames(trace::kRawMaxFrames + 10);
  std::iota(frames.begin(), frames.end(), 1);
  const uint32_t id = InternStack(frames.data(), frames.size());
  EXPECT_EQ(InternStack(frames.data(), frames.size()), id);
  collector.Drain();
  const auto kept = collector.Stack(TestRecord{.process = getpid(), .image = 0}, id);
  EXPECT_EQ(kept, std::vector<uint32_t>(frames.end() - trace::kRawMaxFrames, frames.end()));
}

TEST(InternTest, AFullTableRefusesAndKeepsWhatItHas) {
  IdTable table(16, 64);
  std::map<std::string, uint32_t> known;
  for (int i = 0; i < 100; ++i) {
    const std::string text = std::to_string(i) + "t";
    if (table.Next(text.size()) == 0) continue;
    known[text] = table.Next(text.size());
    table.Add(text.data(), text.size());
  }
  EXPECT_EQ(known.size(), 15u);  // ids 1 to 15
  for (const auto& [text, id] : known) EXPECT_EQ(table.Find(text.data(), text.size()), id);
  EXPECT_EQ(table.Find("99t", 3), 0u);
}

}  // namespace
}  // namespace vramscope::injector
