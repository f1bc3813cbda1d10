// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

using experiment::WithBatch;

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<DryrunPlan> PlanOf(std::vector<std::string> words) {
  const std::vector<collector::GpuModel> models = {{"small", "Small", 8ull << 30, 0, ""},
                                                   {"large", "Large", 80ull << 30, 0, ""},
                                                   {"rtx-9000", "NVIDIA GeForce RTX 9000", 8ull << 30, 0, ""},
                                                   {"x100-40gb", "X100", 8ull << 30, 0, ""},
                                                   {"x100-80gb", "X100", 80ull << 30, 0, ""},
                                                   {"mine", "Mine", 1ull << 30, 0, "mine;..."}};
  const Arguments arguments = VRAMSCOPE_TRY(Arguments::ParseWithCommand(DryrunHelp(), words));
  return PlanFrom(arguments, models);
}

std::string DryrunComplaint(std::vector<std::string> words) {
  const Result<DryrunPlan> plan = PlanOf(std::move(words));
  return plan.ok() ? "" : plan.error().sentence;
}

TEST(DryrunPlanTest, StopsWhenThePeakIsStableUnlessToldOtherwise) {
  EXPECT_EQ(PlanOf({"--gpu", "small", "--", "x"})->steps, "stable");
  EXPECT_EQ(PlanOf({"--gpu", "small", "--steps", "5", "--", "x"})->steps, "5");
  EXPECT_EQ(PlanOf({"--gpu", "small", "--steps", "all", "--", "x"})->steps, "all");
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--steps", "0", "--", "x"}), HasSubstr("a number from 1"));
}

TEST(DryrunPlanTest, SourceIsEmbeddedWhereStacksAreRecorded) {
  const auto plan = PlanOf({"--gpu", "small", "--stacks", "python", "--embed-source", "--", "x"});
  EXPECT_EQ(plan->stacks, "python");
  EXPECT_TRUE(plan->embed_source);
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--stacks", "none", "--embed-source", "--", "x"}),
              HasSubstr("Add --stacks python"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--stacks", "all", "--depth", "light", "--", "x"}),
              HasSubstr("--depth light has none"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--depth", "much", "--", "x"}),
              HasSubstr("--depth must be one of"));
}

TEST(DryrunPlanTest, LinesOfCodeAreRecordedUnlessToldOtherwise) {
  EXPECT_EQ(PlanOf({"--gpu", "small", "--", "x"})->stacks, "python");
  EXPECT_EQ(PlanOf({"--gpu", "small", "--stacks", "none", "--", "x"})->stacks, "none");
  EXPECT_EQ(PlanOf({"--gpu", "small", "--depth", "light", "--", "x"})->stacks, "none");
}

TEST(DryrunPlanTest, AllGpusMeansARunOnTheLargest) {
  const auto plan = PlanOf({"--gpu", "all:2", "--", "x"});
  EXPECT_EQ(plan->device.gpu.name, "large");
  EXPECT_EQ(plan->device.devices, 2);
  EXPECT_EQ(plan->table.size(), 6u);
  EXPECT_THAT(DryrunComplaint({"--gpu", "all", "--capacity", "1GiB", "--", "x"}), HasSubstr("one model"));
}

TEST(DryrunPlanTest, ASizeIsTheNearestModelWithThatMemory) {
  const auto plan = PlanOf({"--gpu", "70GiB:2", "--", "x"});
  EXPECT_EQ(plan->device.gpu.name, "large");
  EXPECT_EQ(plan->device.capacity_bytes, uint64_t{70} << 30);
  EXPECT_EQ(plan->device.devices, 2);
  EXPECT_THAT(DryrunComplaint({"--gpu", "24", "--", "x"}), HasSubstr("the unit is missing. Write 24GiB"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "24G", "--", "x"}), HasSubstr("write 24GiB"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "9GiB", "--capacity", "8GiB", "--", "x"}),
              HasSubstr("leave out --capacity"));
}

TEST(DryrunPlanTest, MasksAreAShareAndRoutingIsOneOfTwo) {
  EXPECT_FALSE(PlanOf({"--gpu", "small", "--", "x"})->masks.has_value());
  EXPECT_EQ(PlanOf({"--gpu", "small", "--masks", "none", "--", "x"})->masks, 0);
  EXPECT_EQ(PlanOf({"--gpu", "small", "--masks", "0.25", "--", "x"})->masks, 0.25);
  EXPECT_EQ(PlanOf({"--gpu", "small", "--routing", "worst", "--", "x"})->balanced_routing, false);
  for (const char* const masks : {"", "half", "1.5", "-1", "nan", "0.5x"})
    EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--masks", masks, "--", "x"}),
                HasSubstr("a share from 0 to 1"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--routing", "good", "--", "x"}),
              HasSubstr("--routing must be one of"));
}

TEST(DryrunPlanTest, TheBatchGoesWhereTheCommandNamesIt) {
  const auto plan =
      PlanOf({"--gpu", "small", "--batch", "2..9", "--", "train", "--size={batch}", "{batch}x{batch}"});
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->batches->first, 2u);
  EXPECT_EQ(plan->batches->last, 9u);
  EXPECT_THAT(WithBatch(plan->command, 12), ElementsAre("train", "--size=12", "12x12"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--batch", "1..4", "--", "train"}), HasSubstr("{batch}"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--", "train", "{batch}"}), HasSubstr("--batch"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--batch", "9..2", "--", "{batch}"}), HasSubstr("a range"));
}

TEST(DryrunPlanTest, ARankIsOneOfTheWorld) {
  const auto plan = PlanOf({"--gpu", "small", "--world-size", "64", "--rank", "63", "--", "x"});
  EXPECT_EQ(plan->lone_rank->world, 64u);
  EXPECT_EQ(plan->lone_rank->rank, 63u);
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--world-size", "64", "--rank", "64", "--", "x"}),
              HasSubstr("0 to 63"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--rank", "1", "--", "x"}), HasSubstr("--world-size"));
}

TEST(DryrunPlanTest, ShufflesAreRunsOfAStatedLength) {
  EXPECT_EQ(PlanOf({"--gpu", "small", "--shuffles", "5", "--steps", "all", "--", "x"})->shuffles, 5u);
  EXPECT_EQ(PlanOf({"--gpu", "small", "--", "x"})->shuffles, 0u);
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--shuffles", "5", "--", "x"}), HasSubstr("--steps"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "small", "--shuffles", "1", "--steps", "9", "--", "x"}),
              HasSubstr("2 to"));
  EXPECT_THAT(DryrunComplaint({"--gpu", "all", "--shuffles", "5", "--steps", "9", "--", "x"}),
              HasSubstr("--gpu all"));
}

TEST(DryrunPlanTest, TheOneGpuOfAFileNeedNotBeNamed) {
  EXPECT_EQ(PlanOf({"--gpu-file", "my.json", "--", "x"})->device.gpu.name, "mine");
  EXPECT_EQ(PlanOf({"--gpu-file", "my.json", "--gpu", "small:2", "--", "x"})->device.gpu.name, "small");
  EXPECT_THAT(DryrunComplaint({"--", "x"}), HasSubstr("dryrun needs a GPU"));
}

TEST(DryrunPlanTest, NamesTheNearestModel) {
  EXPECT_THAT(DryrunComplaint({"--gpu", "smll", "--", "x"}), HasSubstr("did you mean small"));
}

TEST(DryrunPlanTest, ModelsHaveTheNamesThatPeopleWrite) {
  for (const char* const name : {"RTX 9000", "rtx9000", "NVIDIA GeForce RTX 9000", "Rtx-9000:2"})
    EXPECT_EQ(PlanOf({"--gpu", name, "--", "x"})->device.gpu.name, "rtx-9000") << name;
  EXPECT_THAT(DryrunComplaint({"--gpu", "9000", "--", "x"}), HasSubstr("there is rtx-9000."));
  EXPECT_THAT(DryrunComplaint({"--gpu", "X100", "--", "x"}), HasSubstr("there are x100-40gb, x100-80gb."));
  EXPECT_THAT(DryrunComplaint({"--gpu", "40", "--", "x"}), HasSubstr("the unit is missing"));
  EXPECT_EQ(PlanOf({"--gpu", "40GB", "--", "x"})->device.capacity_bytes, 40'000'000'000u);
}

}  // namespace
}  // namespace vramscope::cli
