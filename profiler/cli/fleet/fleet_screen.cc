// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/fleet_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "profiler/fleet/words.h"

namespace vramscope::cli {
namespace {

using fleet::Finding;
using fleet::RankSummary;

constexpr size_t kMostFindings = 24;

std::string RankBytesOrDash(const std::optional<uint64_t>& bytes) {
  return bytes.has_value() ? FormatBytes(*bytes) : "-";
}

// Wraps `text` between words at `width` columns. It starts in column `rest`; later lines are indented to it.
std::string Wrapped(std::string_view text, size_t width, size_t rest) {
  std::string wrapped;
  size_t column = rest;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    const size_t columns = DisplayWidth(word);
    if (column > rest && column + 1 + columns > width) {
      wrapped += "\n" + std::string(rest, ' ');
      column = rest;
    } else if (column > rest) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += columns;
  }
  return wrapped;
}

Ink InkOf(Finding::Kind kind) {
  return kind == Finding::Kind::kOutOfMemory || kind == Finding::Kind::kDead ? Ink::Bad() : Ink::Warning();
}

class Screen {
 public:
  Screen(const fleet::Job& job, size_t top, const Terminal& terminal)
      : job_(job), top_(top), terminal_(terminal) {}

  std::string Build() const {
    std::string text = terminal_.Paint(fleet::Headline(job_), Ink::Bold()) + "\n";
    if (const std::string first = fleet::FirstOutText(job_); !first.empty())
      text += terminal_.Paint(Printable(first), Ink::Bad()) + "\n";
    text += Findings() + Ranks() + Groups() + Clocks();
    for (const std::string& note : job_.notes) text += "\n" + terminal_.Paint(Printable(note), Ink::Dim());
    return job_.notes.empty() ? text : text + "\n";
  }

 private:
  [[nodiscard]] std::string Heading(std::string_view text) const {
    return "\n" + terminal_.Paint(text, Ink::Bold()) + "\n";
  }

  [[nodiscard]] std::string Findings() const {
    if (job_.findings.empty()) return "";
    std::string text = Heading("What stands out");
    for (size_t i = 0; i < std::min(job_.findings.size(), kMostFindings); ++i) {
      const Finding& finding = job_.findings[i];
      text += "  " + terminal_.Paint(terminal_.unicode ? "\u25cf" : "*", InkOf(finding.kind)) + " " +
              Wrapped(Printable(finding.text), static_cast<size_t>(terminal_.width), 4) + "\n";
    }
    if (job_.findings.size() > kMostFindings)
      text += fmt::format("  and {} more; --json has all.\n", job_.findings.size() - kMostFindings);
    return text;
  }

  // The ranks to show, in order: all if at most `top_`; else those that stand out, then the highest peaks.
  [[nodiscard]] std::vector<size_t> Shown() const {
    std::vector<size_t> order(job_.ranks.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (order.size() <= top_) return order;
    std::set<size_t> flagged;
    for (const Finding& finding : job_.findings) flagged.insert(finding.ranks.begin(), finding.ranks.end());
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::pair(flagged.contains(a), job_.ranks[a].peak_bytes) >
             std::pair(flagged.contains(b), job_.ranks[b].peak_bytes);
    });
    order.resize(top_);
    std::sort(order.begin(), order.end());
    return order;
  }

  // Leaves out a column if no rank has a value for it.
  [[nodiscard]] std::string Ranks() const {
    const auto any = [&](auto known) { return std::any_of(job_.ranks.begin(), job_.ranks.end(), known); };
    const bool host = job_.several_hosts;
    const bool mesh = any([](const RankSummary& rank) { return !model::MeshText(rank.mesh).empty(); });
    const bool reserved = any([](const RankSummary& rank) { return rank.reserved_bytes.has_value(); });
    const bool used = any([](const RankSummary& rank) { return rank.used_bytes.has_value(); });
    const bool room = any([](const RankSummary& rank) { return rank.headroom_bytes().has_value(); });
    const bool growth = any([](const RankSummary& rank) { return rank.growth_per_step != 0; });
    const bool slowest = any([](const RankSummary& rank) { return rank.slowest_step() != nullptr; });
    std::vector<std::string> head = {"rank"};
    std::vector<Align> align = {Align::kRight};
    const auto column = [&](bool shown, const char* name, Align side) {
      if (!shown) return;
      head.emplace_back(name);
      align.push_back(side);
    };
    column(mesh, "place", Align::kLeft);
    column(host, "host", Align::kLeft);
    column(true, "device", Align::kLeft);
    column(true, "peak", Align::kRight);
    column(true, "", Align::kLeft);
    column(true, "mostly", Align::kLeft);
    column(reserved, "reserved", Align::kRight);
    column(reserved, "unused", Align::kRight);
    column(used, "device used", Align::kRight);
    column(room, "headroom", Align::kRight);
    column(growth, "a step", Align::kRight);
    column(slowest, "slowest step", Align::kRight);
    column(true, "ended", Align::kLeft);
    for (std::string& name : head) name = terminal_.Paint(name, Ink::Dim());
    Table table(align);
    table.AddRow(head);
    const std::vector<size_t> shown = Shown();
    for (const size_t index : shown) {
      const RankSummary& rank = job_.ranks[index];
      std::vector<std::string> row = {rank.rank.has_value() ? std::to_string(*rank.rank) : "-"};
      if (mesh) row.push_back(Printable(model::MeshText(rank.mesh)));
      if (host) row.push_back(Printable(rank.host));
      row.push_back(rank.rank.has_value() ? rank.device : rank.Name(false));
      row.push_back(FormatBytes(rank.peak_bytes));
      row.push_back(Bar(rank));
      row.push_back(Mostly(rank));
      if (reserved) row.push_back(RankBytesOrDash(rank.reserved_bytes));
      if (reserved) row.push_back(RankBytesOrDash(rank.unused_bytes));
      if (used) row.push_back(RankBytesOrDash(rank.used_bytes));
      if (room) row.push_back(RankBytesOrDash(rank.headroom_bytes()));
      if (growth)
        row.push_back(
            rank.growth_per_step == 0 ? "" : FormatSignedBytes(static_cast<int64_t>(rank.growth_per_step)));
      if (slowest) row.push_back(Slowest(rank));
      row.push_back(EndingText(rank));
      table.AddRow(row);
    }
    std::string text = Heading("Ranks") + table.ToString();
    if (shown.size() < job_.ranks.size())
      text += fmt::format("  and {} more; --top 0 shows all.\n", job_.ranks.size() - shown.size());
    return text;
  }

  [[nodiscard]] std::string Bar(const RankSummary& rank) const {
    uint64_t most = 0;
    for (const RankSummary& one : job_.ranks) most = std::max(most, one.peak_bytes);
    return terminal_.Bar(rank.peak_bytes, most, 8);
  }

  static std::string Mostly(const RankSummary& rank) {
    const auto largest = std::max_element(rank.categories.begin(), rank.categories.end());
    if (*largest == 0) return "";
    const auto category = static_cast<classify::Category>(largest - rank.categories.begin());
    return fmt::format("{} {}", classify::Info(category).plural, FormatPercent(*largest, rank.peak_bytes));
  }

  static std::string Slowest(const RankSummary& rank) {
    const fleet::StepFigures* const step = rank.slowest_step();
    return step == nullptr
               ? "-"
               : fmt::format("{} ({})", FormatDuration(step->end_ns - step->begin_ns), step->number);
  }

  [[nodiscard]] std::string EndingText(const RankSummary& rank) const {
    switch (rank.ending) {
      case fleet::Ending::kFinished:
        return "finished";
      case fleet::Ending::kOutOfMemory:
        return terminal_.Paint("out of memory", Ink::Bad());
      case fleet::Ending::kKilled:
        return terminal_.Paint("killed", Ink::Bad());
      case fleet::Ending::kFailed:
        return terminal_.Paint("failed", Ink::Bad());
      case fleet::Ending::kCutOff:
        return terminal_.Paint("cut off", Ink::Warning());
      case fleet::Ending::kUnknown:
        break;
    }
    return "unknown";
  }

  // The spread within each group, if there are several.
  [[nodiscard]] std::string Groups() const {
    constexpr size_t kMostGroups = 12;
    if (job_.groups.size() < 2) return "";
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
    table.AddRow({terminal_.Paint("peers", Ink::Dim()), terminal_.Paint("ranks", Ink::Dim()),
                  terminal_.Paint("lowest", Ink::Dim()), terminal_.Paint("highest", Ink::Dim()),
                  terminal_.Paint("spread", Ink::Dim())});
    for (size_t i = 0; i < std::min(job_.groups.size(), kMostGroups); ++i) {
      const fleet::PeerGroup& group = job_.groups[i];
      table.AddRow({group.stage.empty() ? "like " + job_.NameOf(group.typical) : Printable(group.stage),
                    FormatCount(group.members.size()), FormatBytes(group.allocated.lowest),
                    FormatBytes(group.allocated.highest),
                    fmt::format("{:.1f} %", 100 * group.allocated.share())});
    }
    const bool staged = !job_.groups.front().stage.empty();
    return Heading(staged ? "Peers: ranks at the same position in the pipeline and among the experts"
                          : "Peers: ranks whose parameters are alike") +
           table.ToString();
  }

  // The first host, which is the reference, and those whose clocks are furthest from it.
  [[nodiscard]] std::vector<size_t> HostsShown() const {
    constexpr size_t kMostHosts = 12;
    std::vector<size_t> order(job_.clocks.hosts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (order.size() <= kMostHosts) return order;
    std::stable_sort(order.begin() + 1, order.end(), [&](size_t a, size_t b) {
      return std::abs(job_.clocks.hosts[a].offset_ns) > std::abs(job_.clocks.hosts[b].offset_ns);
    });
    order.resize(kMostHosts);
    return order;
  }

  [[nodiscard]] std::string Clocks() const {
    if (job_.clocks.hosts.size() < 2) return "";
    Table table({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
    const std::vector<size_t> shown = HostsShown();
    for (const size_t i : shown) {
      const fleet::HostClock& clock = job_.clocks.hosts[i];
      const auto ns = static_cast<uint64_t>(std::abs(clock.offset_ns));
      const std::string offset = i == 0             ? "reference"
                                 : clock.steps == 0 ? "no common steps"
                                                    : fmt::format("{} {}", FormatDuration(ns),
                                                                  clock.offset_ns < 0 ? "behind" : "ahead");
      table.AddRow({clock.host.empty() ? "unknown host" : Printable(clock.host),
                    FormatCount(clock.ranks, "rank"), offset,
                    i == 0 || clock.steps == 0
                        ? ""
                        : fmt::format("drift {:+.1f} ppm, steps agree within {}", clock.drift_ppm,
                                      FormatDuration(clock.residual_ns))});
    }
    std::string text = Heading("Clocks, aligned by the ends of steps") + table.ToString();
    if (shown.size() < job_.clocks.hosts.size())
      text += fmt::format("  and {} more, closer to the reference; --json has all.\n",
                          job_.clocks.hosts.size() - shown.size());
    return text;
  }

  const fleet::Job& job_;
  size_t top_;
  const Terminal& terminal_;
};

}  // namespace

std::string FleetScreen(const fleet::Job& job, size_t top, const Terminal& terminal) {
  return Screen(job, top == 0 ? SIZE_MAX : top, terminal).Build();
}

}  // namespace vramscope::cli
