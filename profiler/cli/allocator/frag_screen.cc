// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/allocator/frag_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "profiler/classify/category.h"
#include "profiler/cli/frame/device_request.h"
#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/fragmentation/cause.h"
#include "profiler/fragmentation/words.h"

namespace vramscope::cli {
namespace {

using fragmentation::kCauses;
using fragmentation::LargestRequest;
using fragmentation::MomentAnswer;
using fragmentation::Subject;

constexpr int kBar = 24;
constexpr size_t kMomentRows = 12;
constexpr size_t kWaitingBlocks = 5;

std::string FragHeading(std::string_view text, const Terminal& terminal) {
  return "\n" + terminal.Paint(text, Ink::Bold()) + "\n";
}

// The value of an option in readable words.
std::string MomentName(const std::string& asked) {
  if (asked == "reserved") return "the peak of reserved memory";
  if (asked == "peak") return "the peak of allocated memory";
  if (asked == "worst") return "the worst moment";
  if (asked == "end") return "the end";
  if (asked == "oom") return "the failed request";
  return asked;
}

// "the peak of reserved memory, step 3, backward" or "the end, 1.2 s after the start"
std::string When(const Subject& subject, const MomentAnswer& moment) {
  std::string text = MomentName(moment.asked);
  const bool names_step = text == fmt::format("end of step {}", moment.place.step);
  if (moment.place.step != 0 && !names_step) text += fmt::format(", step {}", moment.place.step);
  if (!moment.place.phase.empty() && moment.place.phase != "other") text += ", " + moment.place.phase;
  if (moment.place.step == 0 && !subject.history.events.empty()) {
    text += ", " + FormatMoment(moment.time_ns, subject.counts_events);
  }
  return text;
}

std::string FragHeadline(const Subject& subject, const MomentAnswer& moment, const Terminal& terminal) {
  const auto& total = moment.metrics.total;
  const uint64_t waste = total.reserved - total.requested;
  return fmt::format("{} of {} reserved are not {} ({}), at {}.\n",
                     terminal.Paint(FormatBytes(waste), Ink::Bold()), FormatBytes(total.reserved),
                     subject.requests_known ? "requested" : "in blocks", FormatPercent(waste, total.reserved),
                     When(subject, moment));
}

std::string Figures(const fragmentation::Answer& answer, const Terminal& terminal) {
  const auto& metrics = answer.chosen.metrics;
  const auto percent = [](double share) { return fmt::format("{:.1f} %", share * 100); };
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  const auto add = [&](const char* name, const std::string& value, const char* meaning) {
    table.AddRow({name, value, terminal.Paint(meaning, Ink::Dim())});
  };
  add("fragmentation", percent(answer.Fragmentation()),
      "1 - peak allocated / peak reserved, of the whole run");
  add("instantaneous", percent(metrics.Instantaneous()), "1 - allocated / reserved, at this moment");
  add("external", percent(metrics.space.External()), "1 - largest free block / all free");
  add("root sum square", percent(metrics.space.RootSumSquare()),
      "1 - root of the free blocks' squares / all free");
  add("internal", percent(metrics.Internal()), "1 - requested / allocated");
  add("stranded", FormatBytes(metrics.stranded()), "free, but cannot return to the driver");
  if (answer.peak_requested != 0) {
    add("over the floor",
        percent(static_cast<double>(answer.peak_reserved) / static_cast<double>(answer.peak_requested) - 1),
        "peak reserved / most bytes requested at one time - 1");
  }
  return table.ToString();
}

std::string Requests(const Subject& subject, const MomentAnswer& moment) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft});
  for (const LargestRequest& request : moment.largest_requests) {
    std::string title = fragmentation::DomainTitle(subject, request.pool, request.stream);
    if (title.empty()) title = subject.streams_known ? "default stream" : "all streams";
    table.AddRow({title, FormatBytes(request.from_free_blocks), "from free blocks",
                  request.from_driver.has_value() ? FormatBytes(*request.from_driver) : "unknown",
                  "from the driver"});
  }
  return table.ToString();
}

std::string Histogram(const MomentAnswer& moment, const Terminal& terminal) {
  Table table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  for (const auto& runs : moment.metrics.histogram) {
    table.AddRow({FormatBytes(runs.at_least) + " and more", FormatCount(runs.runs, "block"),
                  FormatBytes(runs.bytes), terminal.Bar(runs.bytes, moment.metrics.space.bytes, kBar)});
  }
  return table.ToString();
}

std::string Moments(const Subject& subject, const fragmentation::Answer& answer) {
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow({"", "reserved", "allocated", "not requested", "stranded", "largest free"});
  const size_t rows = std::min(answer.moments.size(), kMomentRows);
  for (size_t i = 0; i < rows; ++i) {
    const auto& moment = answer.moments[i];
    const auto& total = moment.metrics.total;
    std::string when = When(subject, moment);
    if (when.starts_with("the ")) when.erase(0, 4);
    table.AddRow({when, FormatBytes(total.reserved), FormatBytes(total.allocated),
                  FormatBytes(total.reserved - total.requested), FormatBytes(moment.metrics.stranded()),
                  FormatBytes(moment.metrics.space.largest)});
  }
  std::string text = table.ToString();
  if (rows < answer.moments.size())
    text += fmt::format("  and {} more; --json has all\n", answer.moments.size() - rows);
  return text;
}

}  // namespace

std::string CauseTable(const Subject& subject, const fragmentation::Decomposition& causes,
                       const Terminal& terminal) {
  const uint64_t all = causes.Sum();
  Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft});
  for (const fragmentation::Cause& cause : kCauses) {
    const uint64_t bytes = causes.*cause.bytes;
    if (bytes == 0) continue;
    std::string bar = terminal.Bar(bytes, all, kBar);
    bar.resize(std::max(bar.size(), size_t{1}), ' ');
    table.AddRow({cause.name, FormatBytes(bytes), FormatPercent(bytes, all),
                  terminal.Paint(bar, Ink::Rgb(cause.rgb)),
                  terminal.Paint(cause.MeaningFor(subject.history.model), Ink::Dim())});
  }
  return table.ToString();
}

std::string SegmentTable(const Subject& subject, const std::vector<fragmentation::SegmentAnswer>& segments,
                         const Terminal& terminal) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft});
  table.MayCut(2, terminal);
  for (const auto& answer : segments) {
    const std::string domain = fragmentation::DomainTitle(subject, answer.domain.pool, answer.domain.stream);
    table.AddRow({fmt::format("{:#x}", answer.segment.address), FormatBytes(answer.pinned.held_back),
                  fmt::format("of {} held back{}", FormatBytes(answer.segment.bytes),
                              domain.empty() ? "" : ", " + domain)});
    for (const auto& pin : answer.pinned_by) {
      const auto category = classify::CategoryFromKey(pin.text.category);
      const std::string title = fragmentation::BlockTitle(pin.block, pin.text);
      table.AddRow({"", "", terminal.Paint("  " + title, Ink::Dim()), FormatBytes(pin.block.bytes),
                    category.has_value() ? terminal.Paint(classify::Info(*category).name,
                                                          Ink::Rgb(classify::Info(*category).rgb))
                                         : ""});
    }
    const size_t more = answer.pinned.pins.size() - answer.pinned_by.size();
    if (more != 0)
      table.AddRow({"", "", terminal.Paint(fmt::format("  and {} more", FormatCount(more)), Ink::Dim())});
  }
  return table.ToString();
}

std::string FragScreen(const std::string& path, const Subject& subject, const fragmentation::Answer& answer,
                       const Terminal& terminal) {
  std::string text = FragHeadline(subject, answer.chosen, terminal);
  text += terminal.Paint(fmt::format("{}, {} of {}", AboutText(subject.about, subject.others), subject.source,
                                     Printable(path)),
                         Ink::Dim()) +
          "\n\n";
  text += CauseTable(subject, answer.chosen.metrics.causes, terminal);
  text += FragHeading("How fragmented", terminal) + Figures(answer, terminal);
  text += FragHeading("Largest request that would succeed", terminal) + Requests(subject, answer.chosen);
  if (!answer.segments.empty()) {
    text +=
        FragHeading(fmt::format("Pinned memory: {} of {} with free bytes that cannot return to the driver",
                                answer.segments.size(), FormatCount(answer.segment_count, "segment")),
                    terminal) +
        SegmentTable(subject, answer.segments, terminal);
  }
  if (!answer.chosen.waiting.empty()) {
    text += FragHeading("Freed, but waiting for other streams", terminal);
    for (const std::string& sentence : fragmentation::WaitingSentences(answer.chosen.waiting, kWaitingBlocks))
      text += "  " + Printable(sentence) + "\n";
  }
  if (!answer.chosen.metrics.histogram.empty()) {
    text += FragHeading("Free blocks by size", terminal) + Histogram(answer.chosen, terminal);
  }
  text += FragHeading("Moments", terminal) + Moments(subject, answer);
  for (const std::string& note : answer.notes) text += "\n" + terminal.Paint(note, Ink::Dim());
  return answer.notes.empty() ? text : text + "\n";
}

}  // namespace vramscope::cli
