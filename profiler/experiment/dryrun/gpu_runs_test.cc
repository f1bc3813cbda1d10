// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/gpu_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace vramscope::experiment {
namespace {

using ::testing::ElementsAre;

constexpr uint64_t kGibibyte = uint64_t{1} << 30;

collector::GpuModel GpuOf(const char* name, uint64_t gibibytes, int capability) {
  return {name, name, gibibytes * kGibibyte, 0, "", capability};
}

// A program that holds this many GiB at its peak.
class Program {
 public:
  explicit Program(uint64_t gibibytes, bool fused_attention = false)
      : bytes_(gibibytes * kGibibyte), fused_attention_(fused_attention) {
    plan_.table = {GpuOf("small", 8, 86), GpuOf("middle", 24, 90), GpuOf("large", 80, 80)};
  }

  bool Fill() { return table_.Fill(); }
  [[nodiscard]] const std::vector<std::string>& ran() const { return ran_; }
  [[nodiscard]] std::vector<std::string> Fitting() const {
    std::vector<std::string> names;
    for (const GpuRow& row : table_.rows())
      if (row.fits) names.push_back(row.gpu.name);
    return names;
  }

 private:
  DryrunResult Run(const collector::SimulatedDevice& device) {
    ran_.push_back(device.gpu.name);
    DryrunResult result;
    result.device = device;
    result.used_device = true;
    result.fits = bytes_ <= device.gpu.capacity_bytes;
    result.ledger.capacity_bytes = device.gpu.capacity_bytes;
    result.ledger.peak_bytes = result.answer.peak.allocated_bytes = bytes_;
    result.ledger.entries = {{"libc10_cuda.so", "cudaMalloc", bytes_}};
    result.elsewhere.fused_attention = fused_attention_;
    report::Device& chosen = result.answer.devices.emplace_back();
    chosen.chosen = true;
    chosen.peak_reserved_bytes = bytes_;
    return result;
  }

  uint64_t bytes_;
  bool fused_attention_;
  DryrunPlan plan_;
  std::vector<std::string> ran_;
  GpuRuns table_{plan_, [this](const collector::SimulatedDevice& device) { return Run(device); }};
};

TEST(GpuRunsTest, OneRunAnswersForAllModelsFarFromTheirLimit) {
  Program program(12);
  ASSERT_TRUE(program.Fill());
  EXPECT_THAT(program.ran(), ElementsAre("large"));
  EXPECT_THAT(program.Fitting(), ElementsAre("middle", "large"));
}

TEST(GpuRunsTest, EachKindOfFusedAttentionRuns) {
  Program program(12, true);
  ASSERT_TRUE(program.Fill());
  EXPECT_THAT(program.ran(), ElementsAre("large", "middle"));
  EXPECT_THAT(program.Fitting(), ElementsAre("middle", "large"));
}

TEST(GpuRunsTest, AModelAtItsLimitRuns) {
  Program program(24);
  ASSERT_TRUE(program.Fill());
  EXPECT_THAT(program.ran(), ElementsAre("large", "middle"));
  EXPECT_THAT(program.Fitting(), ElementsAre("middle", "large"));
}

TEST(GpuRunsTest, NothingRunsAfterTheLargestModelIsTooSmall) {
  Program program(96);
  ASSERT_TRUE(program.Fill());
  EXPECT_THAT(program.ran(), ElementsAre("large"));
  EXPECT_THAT(program.Fitting(), ElementsAre());
}

TEST(GpuRunsTest, ThereIsNoTableWithARunThatWasNotJudged) {
  DryrunPlan plan;
  plan.table = {GpuOf("small", 8, 86)};
  GpuRuns table(plan, [](const collector::SimulatedDevice&) { return std::nullopt; });
  EXPECT_FALSE(table.Fill());
}

}  // namespace
}  // namespace vramscope::experiment
