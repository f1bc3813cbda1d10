// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/dryrun_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <tuple>

#include "profiler/cli/record/recording_verb.h"
#include "profiler/collector/output/scratch_folder.h"
#include "profiler/experiment/dryrun/several_runs.h"
#include "profiler/fleet/job.h"
#include "profiler/fleet/read.h"
#include "profiler/text/json_dump.h"
#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

using experiment::DryrunResult;
using RanksJson = nlohmann::ordered_json;

constexpr uint64_t kMostRankRuns = 64;

struct JudgedRank {
  RankRun run;
  DryrunResult result;
};

// The dimensions of the mesh that has all ranks: the first ones, up to the size of the job. Others are slices
// of it, or were flattened.
std::vector<model::MeshPlace> RootMesh(const fleet::RankSummary& rank, uint64_t world) {
  std::vector<model::MeshPlace> root;
  uint64_t ranks = 1;
  for (const model::MeshPlace& place : rank.mesh) {
    root.push_back(place);
    ranks *= place.size;
    if (ranks == world) return root;
  }
  return {};
}

std::string StageOf(std::vector<model::MeshPlace> mesh) {
  fleet::RankSummary rank;
  rank.mesh = std::move(mesh);
  return rank.Stage();
}

// One rank for each stage, with index 0 in all other dimensions. Meshes are in row-major order.
std::map<std::string, uint64_t> RanksOfStages(const std::vector<model::MeshPlace>& root, uint64_t world) {
  std::map<std::string, uint64_t> stages;
  for (uint64_t rank = 0; rank < world && stages.size() < kMostRankRuns; ++rank) {
    std::vector<model::MeshPlace> mesh = root;
    uint64_t rest = rank;
    for (auto place = mesh.rbegin(); place != mesh.rend(); ++place) {
      place->index = static_cast<uint32_t>(rest % place->size);
      rest /= place->size;
    }
    stages.try_emplace(StageOf(std::move(mesh)), rank);
  }
  return stages;
}

// Ranks with equal parameters that take equal memory do the same work.
auto RoleOf(const RankRun& run) { return std::tuple(run.summary.model, run.summary.peak_bytes); }

// The rank midway between two neighbors that differ; nothing once every change lies between adjacent ranks.
std::optional<uint64_t> BetweenRoles(std::vector<const RankRun*> runs) {
  std::sort(runs.begin(), runs.end(), [](const RankRun* a, const RankRun* b) { return a->rank < b->rank; });
  for (size_t i = 1; i < runs.size(); ++i)
    if (RoleOf(*runs[i - 1]) != RoleOf(*runs[i]) && runs[i]->rank - runs[i - 1]->rank > 1)
      return runs[i - 1]->rank + (runs[i]->rank - runs[i - 1]->rank) / 2;
  return std::nullopt;
}

Result<JudgedRank> RunRank(const experiment::DryrunPlan& all, uint64_t rank, const std::string& folder,
                           const std::string& simulated) {
  experiment::DryrunPlan plan = all;
  plan.lone_rank->rank = rank;
  plan.output = fmt::format("{}/rank{}.vms", folder, rank);
  experiment::DryrunRunner runner(plan, simulated);
  experiment::Series series(plan, runner);
  std::string log;
  DryrunResult result = VRAMSCOPE_TRY(series.Run(plan.command, plan.device, 0, log));
  if (!result.Verdict().has_value()) {
    if (result.FailedOtherwise())
      fmt::print(stderr, "{}", log.size() > kLogShown ? log.substr(log.size() - kLogShown) : log);
    return Error{fmt::format("rank {} cannot be judged: {}.", rank, result.WhyNotJudged())};
  }
  fleet::ReadRanks read = fleet::ReadFiles({plan.output});
  if (read.ranks.empty()) return Error{fmt::format("rank {}: its trace cannot be read.", rank)};
  return JudgedRank{{rank, std::move(read.ranks.front())}, std::move(result)};
}

std::string BalanceText(const std::vector<JudgedRank>& rows) {
  std::vector<fleet::RankSummary> ranks;
  for (const JudgedRank& row : rows) {
    ranks.push_back(row.run.summary);
    ranks.back().world_size.reset();  // those that were not run are not missing
  }
  const fleet::Job job = fleet::Compare(std::move(ranks));
  for (const fleet::Finding& finding : job.findings)
    if (finding.kind == fleet::Finding::Kind::kImbalance) return finding.text;
  return "";
}

const JudgedRank& Fullest(const std::vector<JudgedRank>& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const JudgedRank& a, const JudgedRank& b) {
    return std::pair(!a.result.fits, a.result.ledger.peak_bytes) <
           std::pair(!b.result.fits, b.result.ledger.peak_bytes);
  });
}

std::string RanksText(const std::vector<JudgedRank>& rows, uint64_t world, bool distinct,
                      const Terminal& terminal) {
  const JudgedRank& fullest = Fullest(rows);
  const auto fitting = static_cast<size_t>(
      std::count_if(rows.begin(), rows.end(), [](const JudgedRank& row) { return row.result.fits; }));
  const std::string what =
      distinct ? FormatCount(rows.size(), "distinct rank") : FormatCount(rows.size(), "rank");
  const std::string sentence = fmt::format(
      "{} {} fit on {} ({}), in a job of {}. {} takes the most memory: {}.",
      fitting == rows.size() ? "All" : fmt::format("{} of", fitting), what, fullest.result.device.gpu.name,
      FormatBytes(fullest.result.ledger.capacity_bytes), FormatCount(world, "rank"),
      fullest.run.summary.Name(false), FormatBytes(fullest.result.ledger.peak_bytes));
  Table table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.AddRow({"rank", "place", "allocated", "reserved", "used", ""});
  for (const JudgedRank& row : rows)
    table.AddRow({std::to_string(row.run.rank), Printable(model::MeshText(row.run.summary.mesh)),
                  FormatBytes(row.result.answer.peak.allocated_bytes), FormatBytes(row.result.PeakReserved()),
                  FormatBytes(row.result.ledger.peak_bytes),
                  row.result.fits ? terminal.Paint("fits", Ink::Good())
                                  : terminal.Paint(fmt::format("needs at least {} more",
                                                               FormatBytes(row.result.shortfall_bytes)),
                                                   Ink::Bad())});
  const std::string balance = BalanceText(rows);
  return terminal.Paint(Printable(sentence), fitting == rows.size() ? Ink::Good() : Ink::Bad()) + "\n" +
         table.ToString() + (balance.empty() ? "" : Printable(balance) + "\n");
}

std::string RanksDocument(const std::vector<JudgedRank>& rows, uint64_t world) {
  const JudgedRank& fullest = Fullest(rows);
  RanksJson document = {
      {"schema_version", 1},
      {"gpu", fullest.result.device.gpu.name},
      {"capacity_bytes", fullest.result.ledger.capacity_bytes},
      {"world_size", world},
      {"fits", std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.result.fits; })},
      {"fullest_rank", fullest.run.rank},
      {"balance", nullptr},
      {"ranks", RanksJson::array()}};
  if (const std::string balance = BalanceText(rows); !balance.empty()) document["balance"] = balance;
  for (const JudgedRank& row : rows) {
    RanksJson mesh = RanksJson::object();
    for (const model::MeshPlace& place : row.run.summary.mesh)
      mesh[place.name] = {{"index", place.index}, {"size", place.size}};
    document["ranks"].push_back({{"rank", row.run.rank},
                                 {"mesh", mesh},
                                 {"fits", row.result.fits},
                                 {"shortfall_bytes", row.result.shortfall_bytes},
                                 {"peak",
                                  {{"allocated_bytes", row.result.answer.peak.allocated_bytes},
                                   {"reserved_bytes", row.result.PeakReserved()},
                                   {"device_used_bytes", row.result.ledger.peak_bytes}}}});
  }
  return text::Dump(document);
}

}  // namespace

Result<RanksWanted> ParseRanksWanted(const std::string& text, uint64_t world) {
  RanksWanted wanted;
  wanted.distinct = text == "distinct";
  if (wanted.distinct) return wanted;
  std::set<uint64_t> ranks;
  if (text == "all")
    for (uint64_t rank = 0; rank < std::min(world, kMostRankRuns + 1); ++rank) ranks.insert(rank);
  for (size_t begin = 0; text != "all" && begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string rank = text.substr(begin, end - begin);
    const uint64_t number = rank == "max" ? world - 1 : text::ParseNumber<uint64_t>(rank).value_or(world);
    if (number >= world)
      return Error{fmt::format("--ranks {}: must be distinct, all, or ranks below {} like 0,7,max.",
                               Printable(text), world)};
    ranks.insert(number);
    begin = end + 1;
  }
  if (ranks.size() > kMostRankRuns)
    return Error{fmt::format("--ranks {}: these are more than {} runs. --ranks distinct runs each role once.",
                             Printable(text), kMostRankRuns)};
  wanted.ranks.assign(ranks.begin(), ranks.end());
  return wanted;
}

std::optional<uint64_t> NextDistinct(uint64_t world, const std::vector<RankRun>& runs) {
  std::set<uint64_t> done;
  std::vector<const RankRun*> all;
  for (const RankRun& run : runs) {
    done.insert(run.rank);
    all.push_back(&run);
  }
  for (const uint64_t end : {uint64_t{0}, world - 1})
    if (!done.contains(end)) return end;
  if (runs.size() >= kMostRankRuns) return std::nullopt;
  const std::vector<model::MeshPlace> root = RootMesh(runs.front().summary, world);
  if (StageOf(root).empty()) return BetweenRoles(std::move(all));
  std::set<std::string> stages;
  for (const RankRun& run : runs) stages.insert(run.summary.Stage());
  for (const auto& [stage, rank] : RanksOfStages(root, world))
    if (!stages.contains(stage) && !done.contains(rank)) return rank;
  return std::nullopt;
}

Result<int> DryrunRanks(const experiment::DryrunPlan& plan, const std::string& simulated,
                        const Arguments& arguments, const Terminal& terminal) {
  if (!plan.lone_rank) return Error{"--ranks needs --world-size: --world-size 64 --ranks distinct"};
  if (arguments.Has("rank") || plan.batches || plan.shuffles != 0 || !plan.table.empty())
    return Error{
        "--ranks runs several ranks on one model; leave out --rank, --batch, --shuffles and --gpu all."};
  const uint64_t world = plan.lone_rank->world;
  const RanksWanted wanted = VRAMSCOPE_TRY(ParseRanksWanted(arguments.Get("ranks"), world));
  const collector::ScratchFolder scratch;
  const std::string folder = plan.output.empty() ? scratch.path() : plan.output;
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) return Error{fmt::format("{}: {}. With --ranks, -o names a folder.", folder, failed.message())};
  std::vector<JudgedRank> rows;
  std::vector<RankRun> runs;
  const auto next = [&]() -> std::optional<uint64_t> {
    if (wanted.distinct) return NextDistinct(world, runs);
    return runs.size() < wanted.ranks.size() ? std::optional(wanted.ranks[runs.size()]) : std::nullopt;
  };
  while (const std::optional<uint64_t> rank = next()) {
    rows.push_back(VRAMSCOPE_TRY(RunRank(plan, *rank, folder, simulated)));
    runs.push_back(rows.back().run);
  }
  std::sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.run.rank < b.run.rank; });
  if (arguments.Has("json"))
    Print(RanksDocument(rows, world) + "\n");
  else
    Print(RanksText(rows, world, wanted.distinct, terminal));
  return std::all_of(rows.begin(), rows.end(), [](const auto& row) { return row.result.fits; }) ? kDone : kNo;
}

}  // namespace vramscope::cli
