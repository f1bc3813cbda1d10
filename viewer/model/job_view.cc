// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/job_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "profiler/model/launch.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/model/rank_strips.h"

namespace vramscope::viewer {
namespace {

std::optional<uint32_t> RankOfFile(const Document& document) {
  if (document.snapshot != nullptr) return fleet::RankOfName(document.path);
  return document.run->processes.empty() ? std::nullopt
                                         : model::LaunchOf(document.run->source->metadata(), 0).rank;
}

std::string FolderOf(const Document& document) {
  return document.path.substr(0, document.path.size() - document.name().size());
}

bool IsOtherRank(const Document& a, const Document& b) {
  const std::optional<uint32_t> first = RankOfFile(a);
  const std::optional<uint32_t> second = RankOfFile(b);
  return first.has_value() && second.has_value() && first != second && FolderOf(a) == FolderOf(b);
}

size_t DeviceOf(const Document& document, const fleet::RankSummary& rank) {
  for (size_t i = 0; i < document.devices.size(); ++i) {
    const model::Device& device = document.run->devices[document.devices[i]->index];
    const uint32_t pid = document.run->processes[device.process].info.pid;
    if (device.name == rank.device && (rank.is_snapshot || pid == rank.pid)) return i;
  }
  return 0;
}

fleet::OpenSide SidesOf(const std::map<std::string, const Document*>& by_path) {
  return [&by_path](const fleet::RankSummary& rank) -> Result<diff::Side> {
    report::Request request;
    request.device = rank.device;
    if (!rank.is_snapshot) request.pid = rank.pid;
    return diff::SideOf(rank.file, *by_path.at(rank.file)->analysis, std::move(request));
  };
}

void AddReasons(JobAnswer& answer) {
  answer.reasons.resize(answer.heat.rows.size());
  for (const fleet::Finding& finding : answer.job.findings) {
    size_t last_row = SIZE_MAX;
    for (const size_t rank : finding.ranks) {
      const size_t row = rank / answer.heat.ranks_per_row;
      if (row >= answer.reasons.size() || row == last_row) continue;
      last_row = row;
      std::string& reasons = answer.reasons[row];
      reasons += (reasons.empty() ? "" : "\n") + text::OneLine(finding.text);
    }
  }
}

// The median peak of a rank's peers in one step.
uint64_t MedianOfPeers(const fleet::Job& job, const HeatCell& cell) {
  std::vector<uint64_t> peaks;
  for (const size_t member : job.groups[job.group_of[cell.rank]].members)
    for (const fleet::StepFigures& step : job.ranks[member].steps)
      if (step.number == cell.step) peaks.push_back(step.peak_bytes);
  return fleet::SpreadOf(std::move(peaks)).median;
}

}  // namespace

std::vector<size_t> FilesOfJob(const std::vector<const Document*>& files, size_t shown) {
  std::vector<size_t> of_job;
  for (size_t i = 0; i < files.size(); ++i) {
    if (files[i] == nullptr || files[shown] == nullptr || files[i]->devices.empty()) continue;
    if (i == shown || AtSameTime(*files[i], *files[shown]) || IsOtherRank(*files[i], *files[shown]))
      of_job.push_back(i);
  }
  return of_job;
}

JobAnswer CompareRanks(const std::vector<const Document*>& files, const std::vector<size_t>& of_job) {
  std::map<std::string, const Document*> by_path;
  std::map<std::string, size_t> file_of;
  std::vector<fleet::RankSummary> ranks;
  for (const size_t file : of_job) {
    const Document& document = *files[file];
    if (!by_path.emplace(document.path, &document).second) continue;  // opened twice
    file_of[document.path] = file;
    for (fleet::RankSummary& rank :
         fleet::SummarizeFile(*document.analysis, document.path, document.snapshot != nullptr))
      ranks.push_back(std::move(rank));
  }
  JobAnswer answer;
  answer.job = fleet::Compare(std::move(ranks), fleet::ExplainHere(SidesOf(by_path)));
  answer.heat = fleet::HeatMapOf(answer.job);
  for (const fleet::RankSummary& rank : answer.job.ranks)
    answer.places.push_back({file_of.at(rank.file), DeviceOf(*by_path.at(rank.file), rank)});
  AddReasons(answer);
  answer.lowest = UINT64_MAX;
  for (const fleet::HeatMap::Row& row : answer.heat.rows) {
    for (const uint64_t bytes : row.bytes) {
      if (bytes != 0) answer.lowest = std::min(answer.lowest, bytes);
      answer.highest = std::max(answer.highest, bytes);
    }
  }
  answer.lowest = std::min(answer.lowest, answer.highest);
  return answer;
}

std::optional<HeatCell> CellAt(const JobAnswer& answer, size_t row, size_t column) {
  const fleet::HeatMap& heat = answer.heat;
  if (row >= heat.rows.size() || column >= heat.rows[row].bytes.size()) return std::nullopt;
  std::optional<HeatCell> fullest;
  const size_t begin = row * heat.ranks_per_row;
  for (size_t rank = begin; rank < std::min(begin + heat.ranks_per_row, answer.job.ranks.size()); ++rank) {
    for (const fleet::StepFigures& step : answer.job.ranks[rank].steps) {
      if ((step.number - heat.first_step) / heat.steps_per_column != column) continue;
      if (!fullest.has_value() || step.peak_bytes > fullest->peak_bytes)
        fullest = HeatCell{rank, step.number, step.peak_bytes};
    }
  }
  return fullest;
}

std::string CellText(const JobAnswer& answer, size_t row, size_t column) {
  const std::optional<HeatCell> cell = CellAt(answer, row, column);
  if (!cell.has_value()) {
    if (row >= answer.heat.rows.size()) return "";
    return fmt::format("{}, step {}: not recorded.", text::OneLine(answer.heat.rows[row].name),
                       answer.heat.first_step + column * answer.heat.steps_per_column);
  }
  std::string text = fmt::format("{}, step {}: peak {}", text::OneLine(answer.job.NameOf(cell->rank)),
                                 cell->step, text::FormatBytes(cell->peak_bytes));
  const uint64_t usual = MedianOfPeers(answer.job, *cell);
  if (cell->peak_bytes != usual)
    text +=
        fmt::format(", {} {} the median of its peers",
                    text::FormatBytes(std::max(cell->peak_bytes, usual) - std::min(cell->peak_bytes, usual)),
                    cell->peak_bytes > usual ? "above" : "below");
  return text + (answer.reasons[row].empty() ? "." : ".\n" + answer.reasons[row]);
}

std::optional<HeatCell> CellOf(const JobAnswer& answer, const fleet::Finding& finding) {
  if (finding.ranks.empty()) return std::nullopt;
  const size_t number = finding.ranks.front();
  const fleet::RankSummary& rank = answer.job.ranks[number];
  using Kind = fleet::Finding::Kind;
  const bool ended = finding.kind == Kind::kOutOfMemory || finding.kind == Kind::kDead;
  const uint32_t step = finding.since_step != 0 ? finding.since_step
                        : ended                 ? rank.ending_step
                                                : rank.peak_step;
  return HeatCell{number, step, rank.peak_bytes};
}

void JobView::Update(const std::vector<const Document*>& files, size_t shown,
                     const std::function<void()>& wake) {
  const std::vector<size_t> of_job = FilesOfJob(files, shown);
  std::vector<const Document*> documents(files.size());  // others do not matter
  for (const size_t file : of_job) documents[file] = files[file];
  answer_.Update(documents, wake, [documents, of_job] { return CompareRanks(documents, of_job); });
}

}  // namespace vramscope::viewer
