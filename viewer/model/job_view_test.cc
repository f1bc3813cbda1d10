// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/job_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/fleet/testing/rank_script.h"

namespace vramscope::viewer {
namespace {

using fleet::testing::RankScript;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// The open files of a job: rank 2 has longer sequences from step 5 on.
class OpenJob {
 public:
  explicit OpenJob(uint32_t ranks) {
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      RankScript script(rank);
      script.world_size = ranks;
      if (rank == 2) script.long_batch_since = 5;
      Add("job/rank" + std::to_string(rank) + ".vms", script);
    }
  }
  void Add(const std::string& path, const RankScript& script) {
    owned_.push_back(MakeDocument(path, model::Load(script.Write()).value(), nullptr));
    files.push_back(owned_.back().get());
  }
  [[nodiscard]] JobAnswer Compared() const { return CompareRanks(files, FilesOfJob(files, 0)); }

  std::vector<const Document*> files;

 private:
  std::vector<std::unique_ptr<Document>> owned_;
};

TEST(JobViewTest, ACellLeadsToTheFileAndTheStepOfItsRank) {
  OpenJob job(4);
  std::swap(job.files[0], job.files[3]);  // opened in another order
  const JobAnswer answer = job.Compared();
  ASSERT_EQ(answer.heat.rows.size(), 4u);
  for (size_t rank = 0; rank < 4; ++rank) {
    const std::optional<HeatCell> cell = CellAt(answer, rank, 6);
    ASSERT_TRUE(cell.has_value());
    EXPECT_EQ(cell->step, 7u);
    EXPECT_EQ(job.files[answer.places[cell->rank].file]->name(), "rank" + std::to_string(rank) + ".vms");
  }
  EXPECT_FALSE(CellAt(answer, 4, 0).has_value());
  EXPECT_FALSE(CellAt(answer, 0, 10).has_value());
}

TEST(JobViewTest, ARowThatStandsOutSaysWhyAndSinceWhen) {
  const OpenJob job(4);
  const JobAnswer answer = job.Compared();
  EXPECT_THAT(answer.reasons,
              ElementsAre("", "", AllOf(StartsWith("rank 2 peaks"), HasSubstr("since step 5")), ""));
  EXPECT_THAT(CellText(answer, 2, 7), AllOf(StartsWith("rank 2, step 8: peak "),
                                            HasSubstr(" above the median of its peers.\nrank 2 peaks")));
  EXPECT_THAT(CellText(answer, 1, 7), testing::Not(HasSubstr("median")));
  const std::optional<HeatCell> begin = CellOf(answer, answer.job.findings.front());
  ASSERT_TRUE(begin.has_value());
  EXPECT_EQ(begin->rank, 2u);
  EXPECT_EQ(begin->step, 5u);
}

TEST(JobViewTest, FilesOfAnotherTimeAndFolderAreNoRanksOfThisJob) {
  OpenJob job(3);
  RankScript later(1);
  later.start_realtime_ns += 3600 * RankScript::kSecond;
  job.Add("other/rank1.vms", later);
  EXPECT_THAT(FilesOfJob(job.files, 0), ElementsAre(0, 1, 2));
  // Dry runs of ranks follow each other.
  later.rank = 7;
  job.Add("job/rank7.vms", later);
  EXPECT_THAT(FilesOfJob(job.files, 0), ElementsAre(0, 1, 2, 4));
  job.files[1] = nullptr;  // still being read
  EXPECT_THAT(FilesOfJob(job.files, 0), ElementsAre(0, 2, 4));
}

TEST(JobViewTest, ManyStepsShareAColumnAndTheFullestIsMeant) {
  OpenJob job(2);
  RankScript longer(3);
  longer.steps = 500;
  longer.leak_bytes = fleet::testing::kMiB;
  job.Add("job/rank3.vms", longer);
  const JobAnswer answer = job.Compared();
  EXPECT_EQ(answer.heat.steps_per_column, 3u);
  const std::optional<HeatCell> cell = CellAt(answer, 2, 10);
  ASSERT_TRUE(cell.has_value());
  EXPECT_EQ(cell->step, 33u);
  EXPECT_EQ(cell->peak_bytes, answer.heat.rows[2].bytes[10]);
  EXPECT_FALSE(CellAt(answer, 0, 10).has_value()) << "it ended after 10 steps";
  EXPECT_EQ(CellText(answer, 0, 10), "rank 0, step 31: not recorded.");
}

}  // namespace
}  // namespace vramscope::viewer
