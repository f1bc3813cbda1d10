// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "profiler/fleet/heat_map.h"
#include "profiler/fleet/testing/rank_script.h"

namespace vramscope::fleet {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::kMiB;
using testing::RankScript;
using Kind = Finding::Kind;

// The runs of a job, each in a file of its own.
class Written {
 public:
  void Add(const RankScript& script) {
    runs_["rank" + std::to_string(script.rank) + ".vms"] = model::Load(script.Write()).value();
  }
  Job Compare(size_t explained = 8) {
    std::vector<RankSummary> ranks;
    for (const auto& [file, run] : runs_)
      for (RankSummary& rank : Summarize(classify::Analysis(run), file)) ranks.push_back(std::move(rank));
    const OpenSide open = [&](const RankSummary& rank) {
      report::Request request;
      request.device = rank.device;
      return diff::SideOf(rank.file, classify::Analysis(runs_.at(rank.file)), request);
    };
    return fleet::Compare(std::move(ranks), ExplainHere(open), explained);
  }

 private:
  std::map<std::string, model::Run> runs_;
};

Job Eight(const std::function<void(RankScript&)>& change = {}) {
  Written job;
  for (uint32_t rank = 0; rank < 8; ++rank) {
    RankScript script(rank);
    if (change) change(script);
    job.Add(script);
  }
  return job.Compare();
}

// The only finding of this kind.
const Finding& Only(const Job& job, Kind kind) {
  static const Finding none;
  const Finding* found = nullptr;
  for (const Finding& finding : job.findings) {
    if (finding.kind != kind) continue;
    EXPECT_EQ(found, nullptr) << "and also: " << finding.text;
    found = &finding;
  }
  EXPECT_NE(found, nullptr) << "no finding of kind " << FindingKey(kind);
  return found == nullptr ? none : *found;
}

TEST(JobTest, RanksThatAreAlikeHaveNoFindings) {
  const Job job = Eight();
  for (const Finding& finding : job.findings) ADD_FAILURE() << finding.text;
  ASSERT_EQ(job.groups.size(), 1u);
  EXPECT_EQ(job.groups[0].members.size(), 8u);
  EXPECT_DOUBLE_EQ(job.groups[0].allocated.share(), 0);
  EXPECT_EQ(job.ranks[5].peak_bytes, (1024 + 64 + 512 + 1024) * kMiB);
  EXPECT_EQ(job.ranks[5].steps.size(), 10u);
  EXPECT_EQ(job.ranks[5].ending, Ending::kFinished);
  EXPECT_FALSE(job.first_out.has_value());
  EXPECT_EQ(job.clocks.step_ns, RankScript::kSecond);
}

TEST(JobTest, EachFaultIsNamedWithItsRankAndCause) {
  const Job job = Eight([](RankScript& script) { script.PlantFaultOfRank(); });
  const Finding& batch = Only(job, Kind::kMemory);
  EXPECT_THAT(batch.ranks, ElementsAre(1u));
  EXPECT_EQ(batch.since_step, 5u);
  EXPECT_EQ(batch.category, "activation");
  EXPECT_EQ(batch.module, "layers.*.attn");
  EXPECT_EQ(batch.line, "forward (model.py:88)");
  EXPECT_THAT(batch.cause, HasSubstr("Input of a step"));
  EXPECT_THAT(batch.text, AllOf(HasSubstr("rank 1 peaks"), HasSubstr("since step 5")));

  const Finding& leak = Only(job, Kind::kGrowth);
  EXPECT_THAT(leak.ranks, ElementsAre(2u));
  EXPECT_EQ(leak.bytes, static_cast<int64_t>(4 * kMiB));
  EXPECT_THAT(leak.line, HasSubstr("train.py:42"));
  ASSERT_TRUE(job.first_out.has_value());
  EXPECT_EQ(job.first_out->rank, 2u);
  EXPECT_EQ(job.first_out->time_left_ns, job.first_out->steps_left * RankScript::kSecond);

  const Finding& context = Only(job, Kind::kElsewhere);
  EXPECT_THAT(context.ranks, ElementsAre(3u));
  EXPECT_EQ(context.bytes, static_cast<int64_t>(480 * kMiB));
  EXPECT_THAT(context.text, HasSubstr("rank 3 also holds 480.0 MiB on cuda:0, the device of rank 0"));

  EXPECT_THAT(Only(job, Kind::kLate).text,
              HasSubstr("rank 4 is late: it ends its steps 3.00 s after the others and was 3 steps behind"));
  const Finding& fragments = Only(job, Kind::kFragmentation);
  EXPECT_THAT(fragments.ranks, ElementsAre(5u));
  EXPECT_EQ(fragments.bytes, static_cast<int64_t>(900 * kMiB));
  EXPECT_THAT(
      Only(job, Kind::kOutOfMemory).text,
      HasSubstr("rank 6 ran out of memory after step 6: an allocation of 512.0 MiB on cuda:6 failed."));
  EXPECT_THAT(Only(job, Kind::kDead).text,
              HasSubstr("rank 7 ended badly after step 3: killed by signal 9 (Killed)."));
  EXPECT_EQ(job.findings.size(), 7u);
  EXPECT_EQ(job.findings.front().kind, Kind::kOutOfMemory) << "the most urgent one comes first";
}

TEST(JobTest, StepsInDisorderGiveTheSameAnswer) {
  const Job job = Eight([](RankScript& script) { script.long_batch_since = script.rank == 1 ? 5 : 0; });
  std::vector<RankSummary> ranks = job.ranks;
  for (RankSummary& rank : ranks) {
    rank.steps.push_back(rank.steps.front());
    std::reverse(rank.steps.begin(), rank.steps.end());
  }
  const Job again = fleet::Compare(std::move(ranks), nullptr, 0);
  EXPECT_EQ(again.ranks[1].steps, job.ranks[1].steps);
  EXPECT_EQ(Only(again, Kind::kMemory).since_step, 5u);
  EXPECT_EQ(again.clocks.step_ns, job.clocks.step_ns);
}

TEST(JobTest, StagesOfAPipelineAreComparedAsStages) {
  const Job job = Eight([](RankScript& script) {
    const uint32_t stage = script.rank / 4;
    script.mesh = "pp " + std::to_string(stage) + "/2, dp " + std::to_string(script.rank % 4) + "/4, tp 0/1";
    script.more_weights = stage == 0 ? 800 * kMiB : 0;
    script.long_batch_since = script.rank == 6 ? 1 : 0;
  });
  ASSERT_EQ(job.groups.size(), 2u);
  EXPECT_EQ(job.groups[0].stage, "pp 0");
  EXPECT_THAT(job.groups[1].members, ElementsAre(4u, 5u, 6u, 7u));
  EXPECT_THAT(Only(job, Kind::kMemory).text, HasSubstr("rank 6 (pp 1, dp 2) peaks"));
  const Finding& imbalance = Only(job, Kind::kImbalance);
  EXPECT_EQ(imbalance.bytes, static_cast<int64_t>(800 * kMiB));
  EXPECT_THAT(imbalance.text,
              HasSubstr("The ranks at pp 0 peak at 3.3 GiB; the ranks at pp 1 peak at 2.6 GiB"));
  EXPECT_EQ(nlohmann::json::parse(ToJson(job))["ranks"][6]["mesh"]["dp"]["index"], 2);
}

TEST(JobTest, StagesWithoutNamesDifferInTheStatesOfTheirOptimizers) {
  const Job job = Eight([](RankScript& script) {
    script.has_names = false;
    script.more_weights = script.rank % 2 == 1 ? 800 * kMiB : 0;
    script.state_bytes = 1024 * kMiB + script.more_weights;
    script.long_batch_since = script.rank == 6 ? 5 : 0;
    script.leak_bytes = script.rank == 2 ? 4 * kMiB : 0;
  });
  ASSERT_EQ(job.groups.size(), 2u);
  for (size_t rank = 0; rank < 8; ++rank)
    EXPECT_EQ(job.group_of[rank], job.group_of[rank % 2])
        << "rank " << rank << ": a leak makes no other model";
  EXPECT_THAT(Only(job, Kind::kMemory).ranks, ElementsAre(6u));
  EXPECT_THAT(Only(job, Kind::kGrowth).ranks, ElementsAre(2u));
  const Finding& imbalance = Only(job, Kind::kImbalance);
  EXPECT_THAT(imbalance.ranks, ElementsAre(1u, 3u, 5u, 7u));
  EXPECT_THAT(imbalance.text, HasSubstr("their parameters differ"));
}

TEST(JobTest, RanksThatTheLauncherStoppedAreNotTheCause) {
  const Job job = Eight([](RankScript& script) {
    script.killed_in = 4;
    script.killed_by = script.rank == 3 ? 9 : 15;
  });
  ASSERT_EQ(job.findings.size(), 2u);
  EXPECT_THAT(job.findings[0].text, HasSubstr("rank 3 ended badly after step 3: killed by signal 9"));
  EXPECT_THAT(job.findings[1].text,
              HasSubstr("rank 0, rank 1, rank 2, rank 4, rank 5, rank 6 and 1 more were stopped"));
}

TEST(JobTest, OfSeveralJobsTheNewestIsCompared) {
  std::vector<RankSummary> ranks;
  for (const uint32_t i : {0, 1, 2, 3}) {
    RankSummary rank;
    rank.rank = i % 2;
    rank.file = std::to_string(i);
    rank.job = i < 2 ? "41" : "42";
    rank.start_realtime_ns = i < 2 ? 100 : 200;
    ranks.push_back(rank);
  }
  const Job job = Compare(ranks);
  ASSERT_EQ(job.ranks.size(), 2u);
  EXPECT_EQ(job.ranks[0].job, "42");
  EXPECT_THAT(job.notes.at(0),
              HasSubstr("of 2 jobs. Only the newest, 42, is compared; 2 ranks of the others are"));
}

TEST(JobTest, ARankWithoutAFileIsMissing) {
  Written job;
  for (const uint32_t rank : {0, 1, 2, 5}) job.Add(RankScript(rank));
  const Job compared = job.Compare();
  EXPECT_THAT(compared.missing, ElementsAre(3u, 4u, 6u, 7u));
  EXPECT_THAT(Only(compared, Kind::kMissing).text, HasSubstr("No file has ranks 3, 4, 6, 7."));
}

TEST(JobTest, TwoRanksThatDifferDoNotSayWhichOneIsRight) {
  Written job;
  for (uint32_t rank = 0; rank < 2; ++rank) {
    RankScript script(rank);
    script.world_size = 2;
    script.long_batch_since = rank == 1 ? 1 : 0;
    job.Add(script);
  }
  const Job compared = job.Compare();
  EXPECT_THAT(compared.findings, IsEmpty());
  EXPECT_GT(compared.groups.at(0).allocated.share(), 0.1);
}

TEST(JobTest, NothingIsAJobWithoutRanks) {
  const Job job = Compare({});
  EXPECT_THAT(job.ranks, IsEmpty());
  EXPECT_THAT(job.findings, IsEmpty());
  EXPECT_EQ(nlohmann::json::parse(ToJson(job))["ranks"].size(), 0u);
}

TEST(JobTest, JsonHasEveryRankAndFinding) {
  const nlohmann::json json = nlohmann::json::parse(ToJson(Eight([](RankScript& script) {
    if (script.rank == 1) script.long_batch_since = 5;
  })));
  EXPECT_EQ(json["schema_version"], 1);
  ASSERT_EQ(json["ranks"].size(), 8u);
  EXPECT_EQ(json["ranks"][3]["host"], "node-0");
  EXPECT_EQ(json["ranks"][3]["peak"]["categories"]["parameter"], 1024 * kMiB);
  EXPECT_EQ(json["ranks"][3]["steps"][9]["step"], 10);
  EXPECT_EQ(json["ranks"][3]["slowest_step"]["step"], 2) << "all but the first are equal";
  EXPECT_EQ(json["findings"][0]["kind"], "memory");
  EXPECT_EQ(json["findings"][0]["ranks"], nlohmann::json::parse("[1]"));
  EXPECT_EQ(json["groups"][0]["ranks"].size(), 8u);
  EXPECT_EQ(json["hosts"][0]["host"], "node-0");
}

TEST(HeatMapTest, ManyRanksAndStepsShareCells) {
  Job job;
  for (uint32_t rank = 0; rank < 1000; ++rank) {
    RankSummary summary;
    summary.rank = rank;
    for (uint32_t step = 11; step <= 1010; ++step)
      summary.steps.push_back({step, 0, 0, rank == 999 ? step : 1});
    job.ranks.push_back(std::move(summary));
  }
  const HeatMap heat = HeatMapOf(job);
  EXPECT_EQ(heat.first_step, 11u);
  EXPECT_EQ(heat.steps_per_column, 5u);
  ASSERT_EQ(heat.rows.size(), 500u);
  EXPECT_EQ(heat.rows[499].name, "rank 998 to rank 999");
  EXPECT_EQ(heat.rows[499].bytes.size(), 200u);
  EXPECT_EQ(heat.rows[499].bytes[0], 15u);
  EXPECT_EQ(heat.rows[0].bytes[199], 1u);
  EXPECT_TRUE(HeatMapOf(Job()).rows.empty());
}

TEST(RankOfNameTest, IsTheNumberAfterRankOrTheLastOne) {
  EXPECT_EQ(RankOfName("job/rank3.pickle"), 3u);
  EXPECT_EQ(RankOfName("rank-12_step_300.vms"), 12u);
  EXPECT_EQ(RankOfName("Rank_07.pkl"), 7u);
  EXPECT_EQ(RankOfName("snapshot_5.pickle"), 5u);
  EXPECT_EQ(RankOfName("2024/run.vms"), std::nullopt);
  EXPECT_EQ(RankOfName("rank99999999999.vms"), std::nullopt);
}

TEST(JobTest, OfMoreOutliersThanMayBeExplainedTheLargestAre) {
  Written job;
  for (uint32_t rank = 0; rank < 6; ++rank) {
    RankScript script(rank);
    if (rank == 1) script.long_batch_since = 5;
    if (rank == 4) script.more_weights = 2048 * kMiB;
    job.Add(script);
  }
  const Job compared = job.Compare(1);
  std::map<uint32_t, bool> explained;
  for (const Finding& finding : compared.findings)
    if (finding.kind == Kind::kMemory)
      explained[*compared.ranks[finding.ranks.front()].rank] = !finding.category.empty();
  EXPECT_THAT(explained, ElementsAre(std::pair(1, false), std::pair(4, true)));
}

TEST(JobTest, ACopyOfATraceIsNoSecondRank) {
  Written job;
  for (uint32_t rank = 0; rank < 3; ++rank) job.Add(RankScript(rank));
  std::vector<RankSummary> ranks = job.Compare().ranks;
  ranks.push_back(ranks[1]);
  ranks.back().file = "worn/rank1.vms";  // sorted after the first file
  const Job compared = Compare(ranks);
  EXPECT_EQ(compared.ranks.size(), 3u);
  EXPECT_THAT(compared.notes,
              ::testing::Contains("worn/rank1.vms is a copy of rank1.vms. Each recording is compared once."));
  ranks.back().start_realtime_ns += RankScript::kSecond;  // another recording of the same rank
  EXPECT_EQ(Compare(ranks).ranks.size(), 4u);
}

TEST(JobTest, RanksOfJobsOfSeveralSizesAreNoticed) {
  Written job;
  for (uint32_t rank = 0; rank < 4; ++rank) {
    RankScript script(rank);
    script.world_size = rank == 3 ? 16 : 4;
    job.Add(script);
  }
  EXPECT_THAT(
      job.Compare().notes,
      ::testing::Contains(HasSubstr("a job of 4 ranks, others of 16: they may belong to several jobs")));
}

}  // namespace
}  // namespace vramscope::fleet
