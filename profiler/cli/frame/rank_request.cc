// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/rank_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "profiler/cli/frame/job_subject.h"
#include "profiler/cli/frame/progress.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/model/launch.h"
#include "profiler/report/device_choice.h"
#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

using Run = Result<int> (*)(const Arguments& arguments, const Terminal& terminal);

constexpr std::string_view kSuffix = "@rank:";

Result<std::set<uint32_t>> RanksOf(const RunFile& file, const Arguments& arguments) {
  const auto source = VRAMSCOPE_TRY(OpenSource(file, arguments));
  std::set<uint32_t> ranks;
  const auto processes = static_cast<model::ProcessIndex>(source->processes().size());
  for (model::ProcessIndex process = 0; process < processes; ++process) {
    const model::Launch launch = model::LaunchOf(source->metadata(), process);
    if (launch.rank.has_value()) ranks.insert(*launch.rank);
  }
  if (!ranks.empty()) return ranks;
  const model::Run run = VRAMSCOPE_TRY(LoadRun(file, arguments));  // without launch facts, by GPU
  for (model::ProcessIndex process = 0; process < processes; ++process) {
    const auto rank = report::RankOf(run, process);
    if (rank.has_value()) ranks.insert(*rank);
  }
  return ranks;
}

// "0 to 7", "0, 3, 5": at most eight.
std::string ListOf(const std::set<uint32_t>& ranks) {
  if (ranks.empty()) return "no ranks";
  if (ranks.size() > 2 && *ranks.rbegin() - *ranks.begin() + 1 == ranks.size())
    return fmt::format("ranks {} to {}", *ranks.begin(), *ranks.rbegin());
  std::string text;
  size_t listed = 0;
  for (const uint32_t rank : ranks) {
    text += fmt::format("{}{}", text.empty() ? "ranks " : ", ", rank);
    if (++listed == 8 && ranks.size() > 8) return text + ", ...";
  }
  return text;
}

// The heading of one answer, and the arguments that select its rank.
struct About {
  std::string heading;  // "Rank 4"
  Arguments arguments;
};

int RunForEach(const std::vector<About>& all, const Arguments& arguments, const Terminal& terminal, Run run) {
  const bool json = arguments.Has("json");
  int code = kDone;
  std::string text = json ? "{\"schema_version\": 1, \"ranks\": [\n" : "";
  bool any = false;
  for (const About& about : all) {
    std::string answer;
    {
      const CapturedOutput captured(answer);
      const Result<int> one = run(about.arguments, terminal);
      code = std::max(code, one.ok() ? *one : Fail(one.error()));
    }
    if (answer.empty()) continue;
    if (json)
      text += any ? ",\n" : "";
    else
      text += fmt::format("{}{}\n", any ? "\n" : "", terminal.Paint(about.heading, Ink::Bold()));
    any = true;
    text += json && answer.ends_with('\n') ? answer.substr(0, answer.size() - 1) : answer;
  }
  if (any) Print(json ? text + "\n]}\n" : text);
  return code;
}

Status CheckSeveral(const VerbHelp& help, const Arguments& arguments) {
  if (arguments.Has("html") || help.subject == VerbSubject::kRunAndOutput)
    return UsageError("one file holds one rank. Select one: --rank 4");
  return {};
}

// The same options, for this one file.
Arguments ForPlace(const VerbHelp& help, const Arguments& arguments, const RankPlace& place) {
  std::vector<std::string> words;
  for (const Option& option : AllOptions(help)) {
    const std::string word = std::string("--") + option.name;
    if (option.value == nullptr && arguments.Has(option.name)) words.push_back(word);
    for (const std::string& value : arguments.All(option.name)) words.push_back(word + "=" + value);
  }
  words.push_back(place.file.starts_with('-') ? "./" + place.file : place.file);
  const Arguments one = Arguments::Parse(help, words).value().Without("rank");  // they were parsed before
  if (place.alone) return one;
  return place.rank.has_value() ? one.With("rank", std::to_string(*place.rank))
                                : one.With("device", place.device);
}

Result<int> RunForJob(const VerbHelp& help, const Arguments& arguments, const Terminal& terminal, Run run) {
  RankRequest request{0, 0, true};
  if (help.subject == VerbSubject::kEveryRank) request = {0, UINT32_MAX, false};
  if (arguments.Has("rank")) request = VRAMSCOPE_TRY(ParseRanks(arguments.Get("rank")));
  const JobRanks job = VRAMSCOPE_TRY(FindJobRanks(arguments));
  if (request.worst) {
    const RankPlace& worst = job.ranks[job.worst];
    if (job.ranks.size() > 1 && !arguments.Has("quiet"))
      Say(fmt::format("This answer is about {}, {}; the job has {}. --rank selects others.", worst.name,
                      worst.file, FormatCount(job.ranks.size(), "rank")));
    return run(ForPlace(help, arguments, worst), terminal);
  }
  std::vector<About> chosen;
  std::set<uint32_t> there;
  for (const RankPlace& place : job.ranks) {
    if (place.rank.has_value()) there.insert(*place.rank);
    const bool all = request.last == UINT32_MAX;
    if (all || (place.rank.has_value() && *place.rank >= request.first && *place.rank <= request.last))
      chosen.push_back({place.rank.has_value() ? fmt::format("Rank {}", *place.rank) : Printable(place.name),
                        ForPlace(help, arguments, place)});
  }
  if (chosen.empty())
    return Error{fmt::format("{}: has {}, none of them in {}.", arguments.positionals().front(),
                             ListOf(there), arguments.Get("rank"))};
  if (request.one() && chosen.size() > 1)
    return Error{fmt::format("{} files have rank {}: these are several jobs. Name one file.", chosen.size(),
                             request.first)};
  if (request.one()) return run(chosen.front().arguments, terminal);
  VRAMSCOPE_TRY(CheckSeveral(help, arguments));
  return RunForEach(chosen, arguments, terminal, run);
}

}  // namespace

Result<RankRequest> ParseRanks(std::string_view text) {
  if (text == "all") return RankRequest{0, UINT32_MAX, false};
  if (text == "worst") return RankRequest{0, 0, true};
  const size_t dots = text.find("..");
  const auto first = text::ParseNumber<uint32_t>(text.substr(0, dots));
  const auto last =
      dots == std::string_view::npos ? first : text::ParseNumber<uint32_t>(text.substr(dots + 2));
  if (!first.has_value() || !last.has_value() || *last < *first)
    return Error{
        fmt::format("--rank needs a number, a range like 4..7, all or worst, not \"{}\".", Printable(text))};
  return RankRequest{*first, *last, false};
}

std::pair<std::string, std::string> SplitRank(const std::string& file) {
  const size_t at = file.rfind(kSuffix);
  std::error_code failed;
  if (at == std::string::npos || std::filesystem::exists(file, failed)) return {file, ""};
  return {file.substr(0, at), file.substr(at + kSuffix.size())};
}

Result<int> RunForRanks(const VerbHelp& help, const Arguments& given, const Terminal& terminal, Run run) {
  Arguments arguments = given;
  const std::vector<std::string>& files = given.positionals();
  if (!files.empty() && help.subject != VerbSubject::kTwoRuns) {
    const auto [path, rank] = SplitRank(files.front());
    if (!rank.empty() && given.Has("rank"))
      return UsageError(
          fmt::format("--rank and {}{} exclude each other. Keep one.", kSuffix, Printable(rank)));
    if (!rank.empty()) arguments = arguments.With("rank", rank).WithFirst(path);
  }
  if (IsJob(help, arguments)) return RunForJob(help, arguments, terminal, run);
  if (!arguments.Has("rank") || arguments.positionals().empty()) return run(arguments, terminal);
  const RankRequest request = VRAMSCOPE_TRY(ParseRanks(arguments.Get("rank")));
  if (request.worst) return run(arguments.Without("rank"), terminal);
  if (request.one()) return run(arguments, terminal);
  VRAMSCOPE_TRY(CheckSeveral(help, arguments));
  const std::string path = SplitRank(arguments.positionals().front()).first;
  const std::set<uint32_t> ranks = VRAMSCOPE_TRY(RanksOf(RunFile(path), arguments));
  std::vector<About> chosen;
  for (const uint32_t rank : ranks)
    if (rank >= request.first && rank <= request.last)
      chosen.push_back({fmt::format("Rank {}", rank), arguments.With("rank", std::to_string(rank))});
  if (chosen.empty())
    return Error{fmt::format("{}: has {}, none of them in {}.", path, ListOf(ranks), arguments.Get("rank"))};
  return RunForEach(chosen, arguments, terminal, run);
}

}  // namespace vramscope::cli
