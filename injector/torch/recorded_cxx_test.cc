// SPDX-License-Identifier: Apache-2.0
// The injector in a LibTorch program without Python: the GPT sample, if the build has it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "injector/torch/recorded_program.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

using testing::Contains;
using trace::EventType;

class RecordedCxxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(VRAMSCOPE_SAMPLE_GPT).empty()) GTEST_SKIP() << "built without the LibTorch sample";
  }
  Outcome Record(const std::string& options) {
    collector_.SetOptions(options);
    return RunRecorded(collector_, command_);
  }
  std::vector<uint64_t> MarkedSteps(trace::MarkKind kind) const {
    std::vector<uint64_t> values;
    for (const TestRecord& record : collector_.Of(EventType::kMark)) {
      if (record.field[trace::mark::kKind] == static_cast<uint64_t>(kind)) {
        values.push_back(record.field[trace::mark::kValue]);
      }
    }
    return values;
  }
  size_t Ranges(EventType type, trace::RangeKind kind) const {
    size_t count = 0;
    for (const TestRecord& record : collector_.Of(type)) {
      if (record.field[trace::range::kKind] == static_cast<uint64_t>(kind)) ++count;
    }
    return count;
  }

  const std::vector<std::string> command_ = {
      VRAMSCOPE_SAMPLE_GPT, "--steps", "5", "--layers", "2", "--dim", "32"};
  TestCollector collector_{""};
};

TEST_F(RecordedCxxTest, ItPrintsTheSameLossesAndEveryBlockIsFreed) {
  const Outcome bare = RunBare(command_);
  const Outcome recorded = Record("depth=light");
  EXPECT_EQ(recorded.status, 0);
  EXPECT_EQ(recorded.out, bare.out);
  EXPECT_EQ(recorded.err, bare.err);
  const size_t allocations = collector_.Of(EventType::kAlloc).size();
  EXPECT_GT(allocations, 1000u);
  EXPECT_EQ(collector_.Of(EventType::kFree).size(), allocations);
  EXPECT_EQ(collector_.Lost(), 0u);
}

TEST_F(RecordedCxxTest, ParametersAndBuffersHaveTheNamesOfTheModuleTree) {
  Record("depth=light");
  std::set<std::string> parameters, buffers;
  for (const TestRecord& record : collector_.Of(EventType::kLabel)) {
    if (record.field[trace::label::kSource] != static_cast<uint64_t>(trace::LabelSource::kModuleRegistry))
      continue;
    const bool is_buffer = record.field[trace::label::kRole] == static_cast<uint64_t>(trace::Role::kBuffer);
    (is_buffer ? buffers : parameters).insert(collector_.Text(record, record.field[trace::label::kName]));
  }
  EXPECT_EQ(parameters.size(), 28u);  // 2 embeddings, 2 blocks of 12, the last norm of 2
  EXPECT_THAT(parameters, Contains("blocks.0.attention.qkv.weight"));
  EXPECT_THAT(parameters, Contains("norm.bias"));
  EXPECT_EQ(buffers, std::set<std::string>{"position_ids"});
}

TEST_F(RecordedCxxTest, StepsAndDeepWindowComeFromTheOptimizerItself) {
  Record("depth=auto");
  EXPECT_EQ(MarkedSteps(trace::MarkKind::kOptimizerStepDone), (std::vector<uint64_t>{1, 2, 3, 4, 5}));
  EXPECT_EQ(MarkedSteps(trace::MarkKind::kDeepBegin), std::vector<uint64_t>{2});
  EXPECT_EQ(MarkedSteps(trace::MarkKind::kDeepEnd), std::vector<uint64_t>{5});
  for (const auto kind :
       {trace::RangeKind::kOptimizer, trace::RangeKind::kBackward, trace::RangeKind::kZeroGrad}) {
    EXPECT_EQ(Ranges(EventType::kRangeBegin, kind), 5u);
    EXPECT_EQ(Ranges(EventType::kRangeEnd, kind), 5u);
  }
}

}  // namespace
}  // namespace vramscope::injector
