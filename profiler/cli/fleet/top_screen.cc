// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/top_screen.h"

#include <fmt/format.h>

#include <algorithm>

#include "profiler/fleet/words.h"

namespace vramscope::cli {
namespace {

using fleet::RankSummary;

std::string BytesOr(const std::optional<uint64_t>& bytes) {
  return bytes.has_value() ? FormatBytes(*bytes) : "-";
}

std::string TopHeadline(const fleet::Job& job) {
  uint32_t step = 0;
  for (const RankSummary& rank : job.ranks)
    if (!rank.steps.empty()) step = std::max(step, rank.steps.back().number);
  std::string text = FormatCount(job.ranks.size(), "rank");
  if (step != 0) text += fmt::format(", step {}", FormatCount(step));
  if (job.clocks.step_ns != 0) text += fmt::format(", {} a step", FormatDuration(job.clocks.step_ns));
  return text;
}

std::string StateText(const RankSummary& rank, uint64_t age_ns, const Terminal& terminal) {
  switch (rank.ending) {
    case fleet::Ending::kOutOfMemory:
      return terminal.Paint("out of memory", Ink::Bad());
    case fleet::Ending::kKilled:
      return terminal.Paint("killed", Ink::Bad());
    case fleet::Ending::kFailed:
      return terminal.Paint("failed", Ink::Bad());
    case fleet::Ending::kFinished:
      return "finished";
    default:
      return age_ns < kSilentNs
                 ? terminal.Paint("running", Ink::Good())
                 : terminal.Paint(fmt::format("silent for {}", FormatDuration(age_ns)), Ink::Warning());
  }
}

std::vector<std::string> RowOf(const fleet::Job& job, size_t index, uint64_t age_ns,
                               const Terminal& terminal) {
  const RankSummary& rank = job.ranks[index];
  const uint64_t reserved = rank.last_reserved_bytes.value_or(0);
  const uint64_t unused = reserved > rank.last_bytes ? reserved - rank.last_bytes : 0;
  const uint64_t used = rank.last_used_bytes.value_or(reserved);
  const auto left = rank.steps_left();
  return {rank.rank.has_value() ? std::to_string(*rank.rank) : "-",
          job.several_hosts ? Printable(rank.host) : "",
          rank.device,
          BytesOr(rank.last_used_bytes),
          rank.capacity_bytes.has_value() ? terminal.Bar(used, *rank.capacity_bytes, 10) : "",
          FormatBytes(rank.last_bytes),
          BytesOr(rank.last_reserved_bytes),
          reserved == 0 ? "-" : FormatPercent(unused, reserved),
          FormatBytes(rank.peak_bytes),
          rank.growth_per_step == 0 ? "" : FormatSignedBytes(static_cast<int64_t>(rank.growth_per_step)),
          left.has_value() ? FormatCount(*left) : "",
          rank.steps.empty() ? "-" : FormatCount(rank.steps.back().number),
          StateText(rank, age_ns, terminal)};
}

}  // namespace

std::string TopScreen(const fleet::Job& job, const std::vector<uint64_t>& age_ns, const Terminal& terminal) {
  std::string text = terminal.Paint(TopHeadline(job), Ink::Bold()) + "\n";
  if (const std::string first = fleet::FirstOutText(job); !first.empty())
    text += terminal.Paint(Printable(first), Ink::Bad()) + "\n";
  constexpr auto kR = Align::kRight;
  constexpr auto kL = Align::kLeft;
  Table table({kR, kL, kL, kR, kL, kR, kR, kR, kR, kR, kR, kR, kL});
  std::vector<std::string> head = {"rank",
                                   job.several_hosts ? "host" : "",
                                   "device",
                                   "used",
                                   "",
                                   "allocated",
                                   "reserved",
                                   "unused",
                                   "peak",
                                   "a step",
                                   "steps left",
                                   "step",
                                   ""};
  for (std::string& name : head) name = terminal.Paint(name, Ink::Dim());
  table.AddRow(head);
  for (size_t i = 0; i < job.ranks.size(); ++i) table.AddRow(RowOf(job, i, age_ns[i], terminal));
  return text + table.ToString();
}

}  // namespace vramscope::cli
