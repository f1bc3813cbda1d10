// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/growth/words.h"
#include "profiler/report/headline.h"
#include "profiler/report/savings_json.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::viewer {
namespace {

using report::Answer;
using report::DeviceRow;

constexpr size_t kMostRows = 5;
constexpr const char* kMemoryTitle = "Device memory";
constexpr const char* kGrowthTitle = "What grows";
constexpr const char* kSavingsTitle = "What would save most";
constexpr const char* kTrustTitle = "Recording quality";
constexpr uint32_t kFreeRgb = 0x7d8797;  // of memory that nobody uses

SummaryRow Sentence(const std::string& text, bool warning = false) {
  return {.text = text::OneLine(text), .warning = warning};
}

SummaryRow Part(uint64_t bytes, const char* name, uint32_t rgb) {
  return {.figure = text::FormatBytes(bytes), .text = name, .bytes = bytes, .rgb = rgb};
}

// Largest first; what does not fit becomes one row.
void KeepLargest(std::vector<SummaryRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const SummaryRow& a, const SummaryRow& b) { return a.bytes > b.bytes; });
  if (rows.size() <= kMostRows) return;
  SummaryRow others = Part(0, "others", kFreeRgb);
  for (size_t i = kMostRows - 1; i < rows.size(); ++i) {
    others.bytes += rows[i].bytes;
    others.more += (others.more.empty() ? "" : "\n") + rows[i].figure + "  " + rows[i].text;
  }
  others.figure = text::FormatBytes(others.bytes);
  rows.resize(kMostRows - 1);
  rows.push_back(std::move(others));
}

// Device memory as nvidia-smi counts it or, if the driver's calls were not recorded, as PyTorch's allocator
// counts it.
SummaryCard MemoryCard(const Answer& answer) {
  SummaryCard card = {.key = "memory", .link = SummaryLink::kFragmentation};
  const report::Peak& peak = answer.peak;
  if (peak.driver) {
    uint64_t sum = 0;
    for (size_t i = 0; i < report::kDeviceRowCount; ++i) {
      const int64_t bytes = peak.driver->rows[i];
      if (bytes <= 0) continue;
      const auto row = static_cast<DeviceRow>(i);
      card.rows.push_back(Part(static_cast<uint64_t>(bytes), WordsOf(row, *answer.framework).name,
                               classify::Info(report::Info(row).color_like).rgb));
      sum += static_cast<uint64_t>(bytes);
    }
    card.whole = std::max(peak.driver->capacity.value_or(sum), sum);
    card.title = fmt::format("{} of device memory", text::FormatBytes(peak.driver->used.value_or(sum)));
    if (peak.driver->capacity) card.title += " of " + text::FormatBytes(*peak.driver->capacity);
    if (peak.driver->capacity && *peak.driver->capacity > sum) {
      SummaryRow free = Part(*peak.driver->capacity - sum, "free", 0);
      KeepLargest(card.rows);
      card.rows.push_back(std::move(free));
      return card;
    }
  } else {
    card.title = kMemoryTitle;
    const uint64_t reserved = std::max(peak.reserved_bytes.value_or(0), peak.allocated_bytes);
    card.rows.push_back(Part(peak.allocated_bytes, answer.framework->allocated.name,
                             classify::Info(report::Info(DeviceRow::kAllocated).color_like).rgb));
    if (reserved > peak.allocated_bytes)
      card.rows.push_back(Part(reserved - peak.allocated_bytes, answer.framework->cached.name, kFreeRgb));
    card.whole = reserved;
    card.rows.push_back(
        Sentence("The driver's calls were not recorded, so the context and other libraries are not known."));
    return card;
  }
  KeepLargest(card.rows);
  return card;
}

SummaryCard GrowthCard(const Answer& answer) {
  SummaryCard card = {.key = "growth", .title = kGrowthTitle, .link = SummaryLink::kLeaks};
  const auto finished = static_cast<size_t>(std::count_if(answer.steps.begin(), answer.steps.end(),
                                                          [](const auto& step) { return step.complete; }));
  if (finished < growth::kFewestSteps) {
    card.rows.push_back(
        Sentence(fmt::format("Growth cannot be judged: {}, and at least {} are needed.",
                             text::FormatCount(finished, "finished step"), growth::kFewestSteps)));
    return card;
  }
  if (answer.growth.empty())
    card.rows.push_back(Sentence(
        fmt::format("Nothing grows from step to step, in {}.", text::FormatCount(finished, "step"))));
  for (const growth::Growth& place : answer.growth) {
    if (card.rows.size() == kMostRows) break;
    card.rows.push_back({.figure = "+" + text::FormatBytes(place.bytes),
                         .text = text::OneLine(growth::PlaceText(place)),
                         .more = text::OneLine(growth::RateText(place) + ", " + growth::SinceText(place)),
                         .bytes = place.bytes,
                         .warning = true});
  }
  return card;
}

SummaryCard SavingsCard(const Answer& answer, const std::optional<report::Savings>* savings, bool live) {
  SummaryCard card = {.key = "savings", .title = kSavingsTitle, .link = SummaryLink::kWhatIf};
  if (savings == nullptr) {
    card.rows.push_back(
        Sentence(live ? "This is computed after the recording has ended." : "Trying the usual changes ..."));
    return card;
  }
  if (!*savings) {
    const bool gpu = answer.device.starts_with("cuda");
    card.rows.push_back(
        Sentence(gpu ? "Not known: an estimate needs a step that was recorded with its operators."
                     : "Not known for host memory."));
    return card;
  }
  const report::Savings& found = **savings;
  for (const report::Saving* saving : found.Advised(report::kChangesAdvised)) {
    if (card.rows.size() == kMostRows) break;
    const uint64_t saved = found.reserved - saving->reserved;
    std::string cost = (found.IsRerun(*saving) ? "re-run: " : "") + saving->cost;
    if (saving->extra_ns) cost += fmt::format(", {} more a step", text::FormatDuration(*saving->extra_ns));
    card.rows.push_back({.figure = "-" + text::FormatBytes(saved),
                         .text = text::OneLine(saving->title),
                         .more = text::OneLine(fmt::format("{} of {} reserved. Cost: {}.",
                                                           text::FormatPercent(saved, found.reserved),
                                                           text::FormatBytes(found.reserved), cost)),
                         .bytes = saved});
  }
  if (card.rows.empty())
    card.rows.push_back(Sentence(
        fmt::format("No usual change saves 1 % of the {} reserved.", text::FormatBytes(found.reserved))));
  return card;
}

std::string MissingHooks(const std::vector<model::Hook>& hooks) {
  std::string missing;
  for (const model::Hook& hook : hooks) {
    if (hook.in_place()) continue;
    missing += (missing.empty() ? "" : "\n") + text::OneLine(hook.name);
    if (!hook.detail.empty()) missing += ": " + text::OneLine(hook.detail);
  }
  return missing;
}

SummaryCard TrustCard(const model::Run& run, const Answer& answer) {
  SummaryCard card = {.key = "trust", .title = kTrustTitle};
  const auto& metadata = run.source->metadata();
  if (const auto gpu = metadata.find("simulated.gpu"); gpu != metadata.end())
    card.rows.push_back(
        Sentence(fmt::format("Simulated device: {}. Bytes are {}'s own, times are not those of a GPU.",
                             gpu->second, answer.framework->name)));
  const uint64_t peak = answer.peak.allocated_bytes;
  const uint64_t unknown = answer.peak.categories[static_cast<size_t>(classify::Category::kUnattributed)];
  card.rows.push_back({.figure = text::FormatPercent(peak - std::min(unknown, peak), peak),
                       .text = "has a category",
                       .warning = unknown * 20 > peak});
  if (!answer.coverage.empty()) {
    const auto in_place = static_cast<size_t>(std::count_if(
        answer.coverage.begin(), answer.coverage.end(), [](const auto& hook) { return hook.in_place(); }));
    card.rows.push_back({.figure = fmt::format("{} of {}", in_place, answer.coverage.size()),
                         .text = "hooks were in place",
                         .more = MissingHooks(answer.coverage)});
  }
  card.rows.push_back({.figure = text::FormatCount(answer.dropped_events),
                       .text = answer.dropped_events == 1 ? "event was lost" : "events were lost",
                       .warning = answer.dropped_events != 0});
  if (!answer.damage.sentence.empty()) card.rows.push_back(Sentence(answer.damage.sentence, true));
  for (const std::string& note : answer.notes) card.rows.push_back(Sentence(note));
  return card;
}

}  // namespace

RunSummary MakeSummary(const model::Run& run, const Answer& answer,
                       const std::optional<report::Savings>* savings, bool live) {
  RunSummary summary;
  summary.headline = text::OneLine(
      fmt::format("Peak {} {}", text::FormatBytes(answer.peak.allocated_bytes), report::PeakClause(answer)));
  summary.about = answer.about;
  const auto add = [&summary](const std::string& part) {
    if (!part.empty()) summary.about += (summary.about.empty() ? "" : "  ·  ") + part;
  };
  if (answer.peak.reserved_peak_bytes)
    add(text::FormatBytes(*answer.peak.reserved_peak_bytes) + " reserved at most");
  if (const std::string origin = report::OriginOfPeak(answer.peak); !origin.empty()) add("in " + origin);
  if (answer.host_memory)
    add(fmt::format("host memory {}", text::FormatBytes(answer.host_memory->main.peak_rss_bytes)));
  summary.about = text::OneLine(summary.about);
  summary.failure = text::OneLine(answer.failed);
  summary.command = text::OneLine(answer.command_line);
  summary.cards = {MemoryCard(answer), GrowthCard(answer), SavingsCard(answer, savings, live),
                   TrustCard(run, answer)};
  return summary;
}

const RunSummary& ExpectedSummary() {
  static const RunSummary expected = [] {
    const std::vector<SummaryRow> rows(kMostRows + 1, {.figure = " "});  // the bar is as high as one row
    return RunSummary{.headline = "Computing the summary of the run ...",
                      .about = " ",
                      .command = " ",
                      .cards = {{.key = "memory", .title = kMemoryTitle, .rows = rows},
                                {.key = "growth", .title = kGrowthTitle},
                                {.key = "savings", .title = kSavingsTitle},
                                {.key = "trust", .title = kTrustTitle}}};
  }();
  return expected;
}

}  // namespace vramscope::viewer
