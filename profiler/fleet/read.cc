// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/read.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <system_error>

#include "profiler/fleet/parts.h"
#include "profiler/fleet/summary_file.h"
#include "profiler/model/launch.h"
#include "profiler/snapshot/run_file.h"
#include "trace_format/wire.h"

namespace vramscope::fleet {
namespace {

namespace fs = std::filesystem;

bool IsSummary(const std::string& path) { return path.ends_with(kSummarySuffix); }

std::string WithoutSuffix(const std::string& summary) {
  return summary.substr(0, summary.size() - kSummarySuffix.size());
}

void AddFolder(const std::string& folder, std::set<std::string>& files) {
  std::error_code failed;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code unknown;
    const std::string path = it->path().string();
    if (!it->is_regular_file(unknown)) continue;
    if (IsSummary(path))
      files.insert(WithoutSuffix(path));
    else if (path.ends_with(".vms") || IsTrace(path) || snapshot::RunFile(path).is_snapshot())
      files.insert(path);
  }
}

// The summary of the trace at `path`. nullopt if there is none, or if it is damaged or out of date. An error
// if it is damaged and the trace does not exist.
Result<std::optional<SummaryFile>> SummaryOf(const std::string& path) {
  std::ifstream file(path + std::string(kSummarySuffix), std::ios::binary);
  if (!file) return std::optional<SummaryFile>();
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<SummaryFile> summary = ParseSummary(text, path);
  std::error_code missing;
  const uint64_t bytes = fs::file_size(path, missing);
  if (!summary.ok() && missing) return summary.error();
  if (!summary.ok() || (!missing && bytes != summary->trace_bytes)) return std::optional<SummaryFile>();
  return std::optional(std::move(*summary));
}

struct Opened {
  std::string path;
  std::unique_ptr<model::Run> run;
  std::unique_ptr<classify::Analysis> analysis;
};

Result<Opened> Open(const std::string& path) {
  auto source = VRAMSCOPE_TRY(snapshot::RunFile(path).OpenSource());
  model::Run run = VRAMSCOPE_TRY(model::Load(std::move(source)));
  Opened opened{path, std::make_unique<model::Run>(std::move(run)), nullptr};
  opened.analysis = std::make_unique<classify::Analysis>(*opened.run);
  return opened;
}

// Returns an error for a file without ranks; it describes the damage if the file is damaged.
Result<std::vector<RankSummary>> RanksIn(const std::string& path) {
  const Opened opened = VRAMSCOPE_TRY(Open(path));
  std::vector<RankSummary> ranks = SummarizeFile(*opened.analysis, path, !IsTrace(path));
  const std::string& damage = opened.run->source->damage().sentence;
  if (ranks.empty()) return Error{damage.empty() ? path + ": nothing was allocated in this run." : damage};
  return ranks;
}

uint32_t ParentOf(uint32_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("PPid:")) return static_cast<uint32_t>(std::strtoul(line.c_str() + 5, nullptr, 10));
  return 0;
}

}  // namespace

bool IsTrace(const std::string& path) {
  std::array<char, trace::kFileMagic.size()> begin{};
  std::ifstream file(path, std::ios::binary);
  return file.read(begin.data(), begin.size()) &&
         std::memcmp(begin.data(), trace::kFileMagic.data(), begin.size()) == 0;
}

std::vector<std::string> TracesOf(uint32_t pid) {
  std::set<std::string> traces;
  for (; pid > 1 && traces.empty(); pid = ParentOf(pid)) {
    std::error_code failed;
    for (fs::directory_iterator it("/proc/" + std::to_string(pid) + "/fd", failed), end; !failed && it != end;
         it.increment(failed)) {
      std::error_code gone;
      const std::string path = fs::read_symlink(it->path(), gone).string();
      if (!gone && path.starts_with('/') && fs::is_regular_file(path, gone) && IsTrace(path))
        traces.insert(path);
    }
  }
  return {traces.begin(), traces.end()};
}

Result<std::vector<std::string>> FindFiles(const std::vector<std::string>& paths) {
  std::set<std::string> files;
  for (const std::string& given : paths) {
    if (given.empty()) return Error{"a file or folder has an empty name. Is a shell variable not set?"};
    std::error_code failed;
    const std::string path = fs::path(given).lexically_normal().string();  // ./a.vms and a.vms are one file
    const fs::file_status status = fs::status(path, failed);
    if (!fs::exists(status)) return Error{path + ": there is no such file or folder."};
    if (fs::is_directory(status))
      AddFolder(path, files);
    else if (!fs::is_regular_file(status))  // reading a pipe would wait forever
      return Error{path + ": is neither a file nor a folder."};
    else
      files.insert(IsSummary(path) ? WithoutSuffix(path) : path);
  }
  if (files.empty())
    return Error{paths.front() +
                 ": has no trace and no PyTorch snapshot. Record a job with: vramscope record -o "
                 "'job/%r.vms' -- COMMAND"};
  return std::vector<std::string>(files.begin(), files.end());
}

ReadRanks ReadFiles(const std::vector<std::string>& files, const std::function<void(size_t)>& progress) {
  ReadRanks read;
  for (size_t i = 0; i < files.size(); ++i) {
    if (progress) progress(i);
    std::vector<RankSummary> ranks;
    Result<std::optional<SummaryFile>> summary = SummaryOf(files[i]);
    if (!summary.ok()) {
      read.unreadable.push_back(summary.error().sentence);
      continue;
    }
    if (summary->has_value()) {
      ranks = std::move((*summary)->ranks);
      ++read.summaries;
    } else {
      Result<std::vector<RankSummary>> whole = RanksIn(files[i]);
      if (!whole.ok()) {
        read.unreadable.push_back(whole.error().sentence);
        continue;
      }
      ranks = std::move(whole).value();
    }
    read.ranks.insert(read.ranks.end(), std::make_move_iterator(ranks.begin()),
                      std::make_move_iterator(ranks.end()));
  }
  JoinParts(read.ranks);
  return read;
}

Result<std::vector<RankSummary>> SummarizeFile(const std::string& path) {
  const Opened opened = VRAMSCOPE_TRY(Open(path));
  return SummarizeFile(*opened.analysis, path, !IsTrace(path));
}

Result<std::string> SummaryFor(const std::string& path) {
  const auto source = VRAMSCOPE_TRY(snapshot::RunFile(path).OpenSource());
  bool of_job = false;
  for (model::ProcessIndex process = 0; process < source->processes().size(); ++process) {
    const model::Launch launch = model::LaunchOf(source->metadata(), process);
    of_job |= launch.rank.has_value() && launch.world_size.value_or(1) > 1;
  }
  if (!of_job) return std::string();
  std::error_code failed;
  const uint64_t bytes = fs::file_size(path, failed);
  if (failed) return Error{path + ": " + failed.message() + "."};
  return SummaryText(VRAMSCOPE_TRY(SummarizeFile(path)), bytes);
}

OpenSide SideOpener() {
  return [last = std::make_shared<std::optional<Opened>>()](const RankSummary& rank) -> Result<diff::Side> {
    if (!last->has_value() || (*last)->path != rank.file) {
      last->reset();  // before Open(): two runs may not fit into memory
      Opened opened = VRAMSCOPE_TRY(Open(rank.file));
      last->emplace(std::move(opened));
    }
    report::Request request;
    request.device = rank.device;
    if (!rank.is_snapshot) request.pid = rank.pid;
    return diff::SideOf(rank.file, *(*last)->analysis, std::move(request));
  };
}

}  // namespace vramscope::fleet
