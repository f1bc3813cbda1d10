// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/launch.h"

#include <gtest/gtest.h>

namespace vramscope::model {
namespace {

TEST(LaunchTest, TheHostIsNamedWhenTheJobHasOthers) {
  trace::Metadata metadata = {
      {"process.1.rank", "37"},          {"process.1.host", "node-09"},
      {"process.1.env.LOCAL_RANK", "5"}, {"process.1.env.WORLD_SIZE", "64"},
      {"process.10.rank", "3"},          {"process.1.env.TORCHELASTIC_RUN_ID", "none"}};
  metadata["process.1.env.LOCAL_WORLD_SIZE"] = "8";
  const Launch launch = LaunchOf(metadata, 1);
  EXPECT_EQ(launch.rank, 37u);
  EXPECT_EQ(launch.local_rank, 5u);
  EXPECT_EQ(launch.world_size, 64u);
  EXPECT_EQ(launch.job, "");
  EXPECT_EQ(RankText(launch), "rank 37 on node-09");
  metadata["process.1.env.LOCAL_WORLD_SIZE"] = "64";
  EXPECT_EQ(RankText(LaunchOf(metadata, 1)), "rank 37");
}

TEST(LaunchTest, TheMeshNamesARankAsTheProgramDoes) {
  trace::Metadata metadata = {
      {"process.0.rank", "37"}, {"process.0.mesh", "pp 2/4, dp 5/8, tp 0/1"}, {"process.0.gpu.3", "8a1b"}};
  EXPECT_EQ(RankText(LaunchOf(metadata, 0)), "rank 37 (pp 2, dp 5)");
  EXPECT_EQ(LaunchOf(metadata, 0).gpu_uuids.at(3), "8a1b");
  for (const char* const broken : {"pp", "pp 4/4", " 1/2", "pp x/2,,", "pp /,/ 3"})
    EXPECT_TRUE(ParseMesh(broken).empty()) << broken;
}

TEST(LaunchTest, TheDefaultProcessGroupDecidesTheRank) {
  trace::Metadata metadata = {{"process.0.world", "5/8"}};
  EXPECT_EQ(RankText(LaunchOf(metadata, 0)), "rank 5");
  EXPECT_EQ(LaunchOf(metadata, 0).world_size, 8u);
  // One task for each of two nodes, and four processes in each.
  metadata.insert({{"process.0.rank", "1"}, {"process.0.env.SLURM_NTASKS", "2"}});
  EXPECT_EQ(LaunchOf(metadata, 0).rank, 5u);
  EXPECT_EQ(LaunchOf(metadata, 0).world_size, 8u);
  for (const char* const broken : {"", "5", "8/8", "x/8", "5/"}) {
    metadata["process.0.world"] = broken;
    EXPECT_EQ(LaunchOf(metadata, 0).rank, 1u) << broken;
  }
}

TEST(LaunchTest, MpirunAndSrunCountToo) {
  const trace::Metadata metadata = {{"process.0.env.OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                    {"process.0.env.SLURM_NTASKS", "16"},
                                    {"process.0.env.SLURM_NNODES", "4"},
                                    {"process.0.env.SLURM_JOB_ID", "77"}};
  const Launch launch = LaunchOf(metadata, 0);
  EXPECT_EQ(launch.local_rank, 1u);
  EXPECT_EQ(launch.world_size, 16u);
  EXPECT_EQ(launch.job, "77");
  EXPECT_TRUE(launch.on_several_hosts());
}

TEST(LaunchTest, AnOldTraceHasTheRankAlone) {
  const Launch launch = LaunchOf({{"process.0.rank", "2"}}, 0);
  EXPECT_EQ(RankText(launch), "rank 2");
  EXPECT_FALSE(launch.world_size.has_value());
  EXPECT_EQ(RankText(LaunchOf({{"process.0.rank", "two"}}, 0)), "");
}

TEST(LaunchTest, RedactedLaunchesKeepNumbers) {
  trace::Metadata metadata = {{"process.0.host", "alice-box"},
                              {"process.0.pod", "alice-0"},
                              {"process.0.env.SLURM_JOB_NAME", "alice"},
                              {"process.0.env.RANK", "1"},
                              {"process.0.rank", "1"},
                              {"process.0.role", "main"}};
  RedactLaunches(metadata);
  const trace::Metadata expected = {
      {"process.0.env.RANK", "1"}, {"process.0.rank", "1"}, {"process.0.role", "main"}};
  EXPECT_EQ(metadata, expected);
}

}  // namespace
}  // namespace vramscope::model
