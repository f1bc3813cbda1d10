// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/frame/job_subject.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include "profiler/cli/frame/verb.h"
#include "profiler/fleet/read.h"

namespace vramscope::cli {

bool IsJob(const VerbHelp& help, const Arguments& arguments) {
  const std::vector<std::string>& files = arguments.positionals();
  const VerbSubject subject = help.subject;
  if (files.empty() || subject == VerbSubject::kTwoRuns || subject == VerbSubject::kRunAndOutput)
    return false;
  if (files.size() > 1) return subject != VerbSubject::kRunAndCommand;
  std::error_code failed;
  return std::filesystem::is_directory(files.front(), failed);
}

Result<JobRanks> FindJobRanks(const Arguments& arguments) {
  const auto files = VRAMSCOPE_TRY(fleet::FindFiles(arguments.positionals()));
  fleet::ReadRanks read = fleet::ReadFiles(files);
  if (read.ranks.empty())
    return Error{read.unreadable.empty() ? "there are no ranks in these files." : read.unreadable.front()};
  if (!arguments.Has("quiet"))
    for (const std::string& sentence : read.unreadable) Say(sentence);
  std::stable_sort(read.ranks.begin(), read.ranks.end(), fleet::InOrderOfRank);
  std::map<std::string_view, size_t> in_file;
  for (const fleet::RankSummary& rank : read.ranks) ++in_file[rank.file];
  JobRanks job;
  const auto badness = [&](size_t i) {
    return std::pair(read.ranks[i].ending == fleet::Ending::kOutOfMemory, read.ranks[i].peak_bytes);
  };
  for (size_t i = 0; i < read.ranks.size(); ++i) {
    const fleet::RankSummary& rank = read.ranks[i];
    job.ranks.push_back({rank.file, rank.rank, rank.device, in_file[rank.file] == 1, rank.Name(true)});
    if (badness(i) > badness(job.worst)) job.worst = i;
  }
  return job;
}

}  // namespace vramscope::cli
