// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/diff_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "profiler/cli/frame/device_request.h"
#include "profiler/diff/words.h"
#include "profiler/text/harmless.h"

namespace vramscope::cli {
namespace {

using diff::Cause;
using diff::Diff;
using diff::OwnerRow;
using diff::Row;
using diff::Side;
using report::Owner;

constexpr int kWidestDiffBar = 24;

struct OwnerKind {
  Owner::Kind kind;
  const char* heading;
};
constexpr OwnerKind kOwnerKinds[] = {{Owner::Kind::kModulePattern, "module"},
                                     {Owner::Kind::kOp, "operator"},
                                     {Owner::Kind::kStack, "line of code"}};

std::vector<const OwnerRow*> RowsOf(const Diff& diff, Owner::Kind kind, size_t top) {
  std::vector<const OwnerRow*> rows;
  for (const OwnerRow& row : diff.owners) {
    if (row.kind == kind && rows.size() < top) rows.push_back(&row);
  }
  return rows;
}

class DiffText {
 public:
  DiffText(const Side& before, const Side& after, const Diff& diff, size_t top, const Terminal& terminal)
      : before_(before), after_(after), diff_(diff), top_(top), terminal_(terminal) {}

  std::string Build() const {
    std::string text = terminal_.Paint(diff::Headline(diff_), Ink::Bold()) + "\n";
    text += Dim(fmt::format("{} against {}", About(before_), About(after_))) + "\n";
    text += Failures() + Notes() + Causes();
    std::vector<const Row*> categories;
    for (const Row& row : diff_.categories) {
      if (row.change() != 0) categories.push_back(&row);
    }
    if (categories.empty()) return text + Heading("By category") + "  no difference\n" + Steps();
    text += Heading("By category") +
            Rows(categories, [&](const Row& row) { return diff::CategoryName(diff_, row); });
    for (const OwnerKind& kind : kOwnerKinds) {
      const auto owners = RowsOf(diff_, kind.kind, top_);
      if (owners.empty()) continue;
      const std::vector<const Row*> rows(owners.begin(), owners.end());
      text += Heading(fmt::format("By {}", kind.heading)) +
              Rows(rows, [](const Row& row) { return diff::OwnerName(static_cast<const OwnerRow&>(row)); });
    }
    return text + Steps();
  }

 private:
  // "run.vms (step 3, backward)", "run.vms, rank 1 (process 4711), cuda:1; 3 others ... (step 3, backward)"
  static std::string About(const Side& side) {
    std::string text = Printable(side.path);
    if (side.answer.rank.has_value() || side.answer.others != 0)
      text += ", " + AboutText(side.answer.about, side.answer.others);
    const report::Peak& peak = side.answer.peak;
    if (peak.step == 0) return text;
    return fmt::format("{} (step {}, {})", text, peak.step, timeline::PhaseName(peak.phase));
  }
  [[nodiscard]] std::string Failures() const {
    std::string text;
    for (const Side* side : {&before_, &after_}) {
      if (!side->answer.failed.empty())
        text += terminal_.Paint(fmt::format("{}: {}", Printable(side->path), side->answer.failed),
                                Ink::Warning()) +
                "\n";
    }
    return text;
  }
  [[nodiscard]] std::string Notes() const {
    std::string text;
    for (const std::string& note : diff_.notes)
      text += terminal_.Paint(Printable(note), Ink::Warning()) + "\n";
    return text;
  }
  [[nodiscard]] std::string Heading(std::string_view text) const {
    return "\n" + terminal_.Paint(text, Ink::Bold()) + "\n";
  }
  [[nodiscard]] std::string Dim(std::string_view text) const { return terminal_.Paint(text, Ink::Dim()); }
  [[nodiscard]] Ink InkOf(int64_t change) const { return change > 0 ? Ink::Warning() : Ink::Good(); }

  [[nodiscard]] std::string Causes() const {
    if (diff_.causes.size() < 2) return "";
    Table table({Align::kRight, Align::kLeft});
    table.MayCut(1, terminal_);
    for (const Cause& cause : diff_.causes) {
      table.AddRow({cause.bytes == 0 ? "" : FormatSignedBytes(cause.bytes), Printable(cause.what)});
    }
    return Heading("What was changed") + table.ToString();
  }

  template <typename NameOf>
  [[nodiscard]] std::string Rows(const std::vector<const Row*>& rows, NameOf name_of) const {
    uint64_t largest = 0;
    for (const Row* row : rows) largest = std::max(largest, static_cast<uint64_t>(std::abs(row->change())));
    const int cells = std::clamp(terminal_.width - 68, 0, kWidestDiffBar);
    Table table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
    table.MayCut(0, terminal_);
    for (const Row* row : rows) {
      const auto size = static_cast<uint64_t>(std::abs(row->change()));
      table.AddRow({name_of(*row), FormatBytes(row->before), FormatBytes(row->after),
                    FormatSignedBytes(row->change()), row->change() == 0 ? "" : diff::PercentText(*row),
                    terminal_.Paint(terminal_.Bar(size, largest, cells), InkOf(row->change()))});
    }
    return table.ToString();
  }

  [[nodiscard]] std::string Steps() const {
    if (diff_.steps.empty()) return "";
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
    for (const diff::StepRow& row : diff_.steps) {
      const int64_t change = static_cast<int64_t>(row.after) - static_cast<int64_t>(row.before);
      least = std::min(least, change);
      most = std::max(most, change);
    }
    std::string text = fmt::format("\nStep by step, {}: ", FormatCount(diff_.steps.size(), "step"));
    text += least == most ? fmt::format("{} in each step.", FormatSignedBytes(most))
                          : fmt::format("from {} to {}.", FormatSignedBytes(least), FormatSignedBytes(most));
    if (diff_.steps_before != diff_.steps_after) {
      text += fmt::format(" The runs have {} and {}.", FormatCount(diff_.steps_before, "step"),
                          FormatCount(diff_.steps_after, "step"));
    }
    return text + "\n";
  }

  const Side& before_;
  const Side& after_;
  const Diff& diff_;
  size_t top_;
  const Terminal& terminal_;
};

void AddMarkdownRow(std::string& text, const std::string& name, const Row& row) {
  text += fmt::format("| {} | {} | {} | {} | {} |\n", text::Markdown(name), FormatBytes(row.before),
                      FormatBytes(row.after), FormatSignedBytes(row.change()),
                      row.change() == 0 ? "" : diff::PercentText(row));
}

}  // namespace

std::string DiffScreen(const Side& before, const Side& after, const Diff& diff, size_t top,
                       const Terminal& terminal) {
  return DiffText(before, after, diff, top, terminal).Build();
}

std::string DiffMarkdown(const Side& before, const Side& after, const Diff& diff, size_t top) {
  std::string text = fmt::format("**{}**\n\n{} against {}\n\n", text::Markdown(diff::Headline(diff)),
                                 text::Markdown(before.path), text::Markdown(after.path));
  for (const std::string& note : diff.notes) text += text::Markdown(note) + "\n\n";
  if (diff.causes.size() > 1) {
    for (const Cause& cause : diff.causes) {
      text += fmt::format("- {}{}\n", text::Markdown(cause.what),
                          cause.bytes == 0 ? "" : ": " + FormatSignedBytes(cause.bytes));
    }
    text += "\n";
  }
  const std::string columns = " | before | after | change | |\n|---|---:|---:|---:|---:|\n";
  text += "| category" + columns;
  for (const Row& row : diff.categories) {
    if (row.change() != 0) AddMarkdownRow(text, diff::CategoryName(diff, row), row);
  }
  for (const OwnerKind& kind : kOwnerKinds) {
    const auto owners = RowsOf(diff, kind.kind, top);
    if (owners.empty()) continue;
    text += fmt::format("\n| {}{}", kind.heading, columns);
    for (const OwnerRow* row : owners) AddMarkdownRow(text, diff::OwnerName(*row), *row);
  }
  return text;
}

}  // namespace vramscope::cli
