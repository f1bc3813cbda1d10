// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/record/kept_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "profiler/cli/frame/terminal.h"
#include "profiler/collector/output/new_file.h"
#include "profiler/collector/output/output_place.h"
#include "profiler/fleet/parts.h"
#include "profiler/fleet/read.h"
#include "profiler/fleet/spread.h"
#include "profiler/fleet/summary_file.h"
#include "profiler/text/size_text.h"

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kSmallest = kMiB;
constexpr uint64_t kPartsOfARing = 8;
constexpr uint64_t kPartsOfASummary = 16;
constexpr uint64_t kLargestOfASummary = 4 * kMiB;  // about 1.7 million events, which are read in two seconds
constexpr uint64_t kMostOfASummary = 64 * kMiB;
// Below this, steps differ by chance: by a batch's longest sentence, or by an allocator's rounding.
constexpr double kLeastDifference = 0.02;

// run.part12.vms -> run.parts.vms
std::string HistoryPath(const std::string& part) {
  const fs::path path(part);
  return path.parent_path() / (path.stem().stem().string() + ".parts" + path.extension().string());
}

bool SameRank(const fleet::RankSummary& a, const fleet::RankSummary& b) {
  return a.pid == b.pid && a.device == b.device;
}

bool IsFar(uint64_t bytes, uint64_t usual) {
  const double distance =
      bytes > usual ? static_cast<double>(bytes - usual) : static_cast<double>(usual - bytes);
  return distance > kLeastDifference * static_cast<double>(usual);
}

// Removes the parts of the trace that was replaced: "run.part12.vms" next to `first`, "run.part1.vms".
void RemoveOldParts(const fs::path& first) {
  const std::string begin = first.stem().stem().string() + ".part";
  std::vector<fs::path> old;
  std::error_code failed;
  for (fs::directory_iterator it(first.parent_path().empty() ? "." : first.parent_path(), failed), end;
       !failed && it != end; it.increment(failed)) {
    const fs::path& path = it->path();
    const std::string stem = path.stem().string();
    if (path.extension() == first.extension() && path.filename() != first.filename() &&
        stem.starts_with(begin) && stem.size() > begin.size() &&
        stem.find_first_not_of("0123456789", begin.size()) == std::string::npos)
      old.push_back(path);
  }
  for (const fs::path& path : old) fs::remove(path, failed);
}

}  // namespace

Result<Keep> KeepFrom(const Arguments& arguments) {
  const std::string text = arguments.Get("keep", "full");
  if (text == "full") return Keep{};
  for (const char* const other : {"black-box", "max-size", "dormant"})
    if (arguments.Has(other))
      return Error{fmt::format("--keep {} and --{} exclude each other. Leave out one of the two.",
                               Printable(text), other)};
  const bool is_ring = text.starts_with("ring:");
  if (!is_ring && text != "summary" && !text.starts_with("summary:"))
    return Error{fmt::format("--keep must be one of full, summary, summary:SIZE, ring:SIZE, not '{}'.",
                             Printable(text))};
  uint64_t bytes = kMostOfASummary;
  if (const size_t colon = text.find(':'); colon != std::string::npos)
    bytes = VRAMSCOPE_TRY(text::ParseSize("keep", text.substr(colon + 1)));
  if (bytes < kSmallest) return Error{"--keep needs at least 1MiB."};
  const uint64_t part =
      is_ring ? bytes / kPartsOfARing : std::min(bytes / kPartsOfASummary, kLargestOfASummary);
  // The part that is being written may grow to one and a half times its size.
  return Keep{is_ring ? Keep::What::kRing : Keep::What::kSummary, bytes - part * 3 / 2, part};
}

void KeptParts::Prepare(collector::RecordOptions& options) {
  if (keep_.what == Keep::What::kFull) return;
  options.part_bytes = keep_.part_bytes;
  options.part_done = [this](const std::string& path) { Take(path); };
}

// Starts the thread at the first part, so never before the command was started.
void KeptParts::Take(const std::string& path) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(path);
  if (!worker_.joinable()) {
    RemoveOldParts(path);
    worker_ = std::thread([this] { Work(); });
  }
  news_.notify_one();
}

void KeptParts::Finish() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    news_.notify_one();
  }
  if (worker_.joinable()) worker_.join();
}

void KeptParts::Work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    news_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::string path = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    Read(path);
  }
}

// A part is only removed if its figures are stored elsewhere. If they cannot be stored, it is kept.
void KeptParts::Read(const std::string& path) {
  const auto stored = [&]() -> Result<bool> {
    std::vector<fleet::RankSummary> ranks = VRAMSCOPE_TRY(fleet::SummarizeFile(path));
    const bool differs = HasStepThatDiffers(ranks);
    for (fleet::RankSummary& rank : ranks) {
      const auto known = std::find_if(history_.begin(), history_.end(),
                                      [&](const auto& one) { return SameRank(one, rank); });
      if (known == history_.end())
        history_.push_back(std::move(rank));
      else
        fleet::AddPart(std::move(rank), *known);
    }
    history_path_ = HistoryPath(path) + std::string(fleet::kSummarySuffix);
    collector::NewFile file = VRAMSCOPE_TRY(collector::NewFile::Create(history_path_, {path}));
    VRAMSCOPE_TRY(file.Write(fleet::SummaryText(history_, 0)));
    VRAMSCOPE_TRY(file.Commit());
    return differs;
  }();
  if (stored.ok())
    Decide(path, *stored);
  else if (trouble_.empty())
    trouble_ = stored.error().sentence;
}

bool KeptParts::HasStepThatDiffers(const std::vector<fleet::RankSummary>& ranks) const {
  for (const fleet::RankSummary& rank : ranks) {
    const auto known =
        std::find_if(history_.begin(), history_.end(), [&](const auto& one) { return SameRank(one, rank); });
    if (known == history_.end() || known->steps.empty()) return true;  // the first part of this rank
    std::vector<uint64_t> peaks;
    for (const fleet::StepFigures& step : known->steps) peaks.push_back(step.peak_bytes);
    const uint64_t usual = fleet::SpreadOf(std::move(peaks)).median;
    const uint32_t last = known->steps.back().number;
    if (std::any_of(rank.steps.begin(), rank.steps.end(), [&](const fleet::StepFigures& step) {
          return step.number > last && IsFar(step.peak_bytes, usual);
        }))
      return true;
  }
  return false;
}

void KeptParts::Decide(const std::string& path, bool differs) {
  std::error_code failed;
  const Part part{path, fs::file_size(path, failed)};
  const bool is_ring = keep_.what == Keep::What::kRing;
  if (!is_ring && (!differs || kept_bytes_ + part.bytes > keep_.most_bytes)) {
    removed_that_differ_ += differs ? 1 : 0;
    Remove(part);
    return;
  }
  kept_.push_back(part);
  kept_bytes_ += part.bytes;
  while (kept_bytes_ > keep_.most_bytes && kept_.size() > 1) {
    kept_bytes_ -= kept_.front().bytes;
    Remove(kept_.front());
    kept_.pop_front();
  }
}

void KeptParts::Remove(const Part& part) {
  std::error_code failed;
  if (fs::remove(part.path, failed)) ++removed_;
}

std::string KeptParts::Line(const std::string& trace) const {
  if (!trouble_.empty()) return fmt::format("{} This part and similar ones were kept.", trouble_);
  if (removed_ == 0 && kept_.empty()) return "";
  std::string line =
      fmt::format("{}: the last of {}; ", trace, FormatCount(removed_ + kept_.size() + 1, "part"));
  line += kept_.empty() ? "no other was kept"
                        : FormatCount(kept_.size(), "other") + " kept, from " + kept_.front().path;
  if (removed_ != 0) line += fmt::format(", and {} removed", removed_);
  line += fmt::format(". The figures of all steps are in {}.", history_path_);
  if (removed_that_differ_ != 0)
    line += fmt::format(" Of the parts with steps that differ, {} did not fit in {} and {} removed too.",
                        FormatCount(removed_that_differ_, "part"), FormatBytes(keep_.most_bytes),
                        removed_that_differ_ == 1 ? "was" : "were");
  return line;
}

}  // namespace vramscope::cli
