// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/rank_summary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <tuple>

namespace vramscope::fleet {
namespace {

constexpr std::array kEndings = {"unknown", "finished", "out_of_memory", "killed", "failed", "cut_off"};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<uint32_t> NumberAt(std::string_view text) {
  uint32_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  return parsed.ec == std::errc() ? std::optional(number) : std::nullopt;
}

}  // namespace

const char* EndingKey(Ending ending) { return kEndings[static_cast<size_t>(ending)]; }

std::optional<Ending> EndingFromKey(std::string_view key) {
  for (size_t i = 0; i < kEndings.size(); ++i)
    if (key == kEndings[i]) return static_cast<Ending>(i);
  return std::nullopt;
}

std::optional<uint64_t> RankSummary::headroom_bytes() const {
  if (!capacity_bytes.has_value()) return std::nullopt;
  const std::optional<uint64_t> taken = used_bytes.has_value() ? used_bytes : reserved_bytes;
  if (!taken.has_value()) return std::nullopt;
  return *capacity_bytes > *taken ? *capacity_bytes - *taken : 0;
}

std::optional<uint64_t> RankSummary::steps_left() const {
  const std::optional<uint64_t> headroom = headroom_bytes();
  if (!headroom.has_value() || growth_per_step == 0) return std::nullopt;
  // Growth first fills the memory that PyTorch has reserved but not allocated.
  return (*headroom + unused_bytes.value_or(0)) / growth_per_step;
}

const StepFigures* RankSummary::slowest_step() const {
  const StepFigures* slowest = nullptr;
  const size_t first = steps.size() > 1 ? 1 : 0;
  for (size_t i = first; i < steps.size() && !counts_events; ++i)
    if (slowest == nullptr || steps[i].end_ns - steps[i].begin_ns > slowest->end_ns - slowest->begin_ns)
      slowest = &steps[i];
  return slowest;
}

std::string RankSummary::Stage() const {
  constexpr std::array kStages = {"pp", "pipe", "pipeline", "stage", "ep", "expert"};
  std::vector<model::MeshPlace> stage;
  for (const model::MeshPlace& place : mesh)
    if (std::find(kStages.begin(), kStages.end(), place.name) != kStages.end()) stage.push_back(place);
  return model::MeshText(stage);
}

std::string RankSummary::Name(bool with_host) const {
  if (!rank.has_value()) return device + " of " + file.substr(file.find_last_of('/') + 1);
  std::string name = "rank " + std::to_string(*rank);
  if (const std::string place = model::MeshText(mesh); !place.empty()) name += " (" + place + ")";
  return with_host && !host.empty() ? name + " on " + host : name;
}

bool InOrderOfRank(const RankSummary& a, const RankSummary& b) {
  const auto key = [](const RankSummary& rank) {
    return std::tuple(rank.rank.value_or(UINT32_MAX), std::string_view(rank.file),
                      std::string_view(rank.device));
  };
  return key(a) < key(b);
}

std::optional<uint32_t> RankOfName(std::string_view file) {
  std::string name(file.substr(file.find_last_of('/') + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  for (size_t at = name.rfind("rank"); at != std::string::npos;
       at = at == 0 ? at - 1 : name.rfind("rank", at - 1)) {
    size_t begin = at + 4;
    while (begin < name.size() && !IsDigit(name[begin]) &&
           !std::isalpha(static_cast<unsigned char>(name[begin])))
      ++begin;
    if (begin < name.size() && IsDigit(name[begin])) return NumberAt(std::string_view(name).substr(begin));
  }
  // Otherwise the last number of the name without its extension.
  size_t end = name.find_last_of('.');
  if (end == std::string::npos || end == 0) end = name.size();
  while (end > 0 && !IsDigit(name[end - 1])) --end;
  size_t begin = end;
  while (begin > 0 && IsDigit(name[begin - 1])) --begin;
  return begin == end ? std::nullopt : NumberAt(std::string_view(name).substr(begin, end - begin));
}

namespace {

// A snapshot contains one process. If the file name contains a rank, the device with the highest peak is the
// rank's own, as for a trace of a process with a rank. Otherwise each device is a rank.
void KeepOwnDevice(const std::string& path, std::vector<RankSummary>& ranks) {
  const std::optional<uint32_t> number = RankOfName(path);
  if (!number.has_value()) return;
  const auto fullest = std::max_element(
      ranks.begin(), ranks.end(),
      [](const RankSummary& a, const RankSummary& b) { return a.peak_bytes < b.peak_bytes; });
  RankSummary own = std::move(*fullest);
  own.rank = number;
  own.rank_from_name = true;
  ranks = {std::move(own)};
}

}  // namespace

std::vector<RankSummary> SummarizeFile(const classify::Analysis& analysis, const std::string& file,
                                       bool is_snapshot) {
  std::vector<RankSummary> ranks = Summarize(analysis, file);
  for (RankSummary& rank : ranks) rank.is_snapshot = is_snapshot;
  if (ranks.size() > 1 && is_snapshot) KeepOwnDevice(file, ranks);
  return ranks;
}

}  // namespace vramscope::fleet
