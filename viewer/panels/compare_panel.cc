// SPDX-License-Identifier: Apache-2.0
// Compares two open files: the change, the peak of each step in both, and growth by category, module,
// operator and line of code.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "profiler/diff/words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/named_table.h"

namespace vramscope::viewer {
namespace {

using diff::OwnerRow;
using diff::Row;
using report::Owner;

constexpr size_t kMostRows = 200;  // of each kind

// The choice of one of the two files, out of those that are open; `other` is the other one.
void ShowComparedFile(App& app, const char* which, size_t& file, size_t& other) {
  const Session& session = app.session;
  const auto name = [&](size_t each) { return text::OneLine(session.files()[each]->name()); };
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", which);
  ImGui::SameLine();
  ImGui::SetNextItemWidth(std::min(Em(13), ImGui::GetContentRegionAvail().x));
  if (ImGui::BeginCombo(fmt::format("##{}", which).c_str(), name(file).c_str())) {
    for (size_t i = 0; i < session.files().size(); ++i) {
      if (!ImGui::Selectable(fmt::format("{}##{}", name(i), i).c_str(), i == file)) continue;
      if (i == other) other = file;
      file = i;
    }
    ImGui::EndCombo();
  }
  app.NameLastItem(fmt::format("compare.{}", which));
}

void ShowChoice(App& app) {
  const float least = Em(20);  // of a file and the button after it
  ShowComparedFile(app, "before", app.compared.before, app.compared.after);
  if (ImGui::GetContentRegionAvail().x > Em(36)) ImGui::SameLine(0, Em(1));
  ShowComparedFile(app, "after", app.compared.after, app.compared.before);
  if (ImGui::GetContentRegionAvail().x > least) ImGui::SameLine(0, Em(1));
  if (ImGui::Button("Swap")) app.compared.Swap();
  app.NameLastItem("compare.swap");
}

// The peak of every step that both files have: two lines over the step numbers, from 0 bytes up.
void ShowStepPeaks(App& app, const Comparison& comparison, float height) {
  const auto& steps = comparison.diff.steps;
  if (steps.empty()) return;
  ShowHeading("Peak of each step", "before in gray");
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  uint64_t most = 1;
  for (const diff::StepRow& row : steps) most = std::max({most, row.before, row.after});
  const float label = TextSize(look().fonts.small, text::FormatBytes(most)).x + Em(0.6f);
  const float left = at.x + label;
  const float right = at.x + width - Em(0.5f);
  const float bottom = at.y + height - Em(1.3f);
  const float top = at.y + Em(0.4f);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine({left, top}, {right, top}, look().colors.line);
  list.AddLine({left, bottom}, {right, bottom}, look().colors.line);
  DrawText(list, look().fonts.small, {at.x, top - Em(0.4f)}, look().colors.dim, text::FormatBytes(most));
  DrawText(list, look().fonts.small, {at.x, bottom - Em(0.5f)}, look().colors.dim, "0 B");
  const auto x_of = [&](size_t i) {
    return steps.size() == 1
               ? (left + right) / 2
               : left + (right - left) * static_cast<float>(i) / static_cast<float>(steps.size() - 1);
  };
  const auto y_of = [&](uint64_t bytes) {
    return bottom -
           (bottom - top) * static_cast<float>(static_cast<double>(bytes) / static_cast<double>(most));
  };
  for (const bool after : {false, true}) {
    const ImU32 color = after ? look().colors.accent : look().colors.dim;
    for (size_t i = 0; i < steps.size(); ++i) {
      const ImVec2 here = {x_of(i), y_of(after ? steps[i].after : steps[i].before)};
      if (i > 0) {
        const ImVec2 last = {x_of(i - 1), y_of(after ? steps[i - 1].after : steps[i - 1].before)};
        list.AddLine(last, here, color, Em(0.12f));
      }
      if (steps.size() <= 40) list.AddCircleFilled(here, Em(0.2f), color);
    }
  }
  DrawText(list, look().fonts.small, {left, bottom + Em(0.2f)}, look().colors.dim,
           fmt::format("step {}", steps.front().step));
  const std::string last = fmt::format("step {}", steps.back().step);
  if (steps.size() > 1) {
    DrawText(list, look().fonts.small, {right - TextSize(look().fonts.small, last).x, bottom + Em(0.2f)},
             look().colors.dim, last);
  }
  ImGui::InvisibleButton("steps", {width, height});
  app.NameLastItem("compare.steps");
  if (!ImGui::IsItemHovered() || right <= left) return;
  const float share = std::clamp((ImGui::GetIO().MousePos.x - left) / (right - left), 0.0f, 1.0f);
  const auto i = static_cast<size_t>(share * static_cast<float>(steps.size() - 1) + 0.5f);
  list.AddLine({x_of(i), top}, {x_of(i), bottom}, look().colors.line);
  ImGui::SetTooltip("step %u\nbefore  %s\nafter   %s", steps[i].step,
                    text::FormatBytes(steps[i].before).c_str(), text::FormatBytes(steps[i].after).c_str());
}

void ShowCauses(const Comparison& comparison) {
  PushFont(look().fonts.strong);
  ShowWrapped(text::OneLine(diff::Headline(comparison.diff)));
  ImGui::PopFont();
  ImGui::PushTextWrapPos(0);
  if (comparison.diff.causes.size() > 1) {
    for (const diff::Cause& cause : comparison.diff.causes) {
      PushFont(look().fonts.mono);
      ImGui::TextUnformatted(cause.bytes == 0 ? "" : text::FormatSignedBytes(cause.bytes).c_str());
      ImGui::PopFont();
      ImGui::SameLine(Em(6));
      ImGui::TextUnformatted(text::OneLine(cause.what).c_str());
    }
  }
  ImGui::PopTextWrapPos();
}

// A bar to the right of the middle for what grew, to the left for what shrank.
void ShowChangeBar(int64_t change, int64_t largest) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float half = ImGui::GetContentRegionAvail().x / 2;
  const float bar =
      largest == 0 ? 0
                   : half * static_cast<float>(static_cast<double>(change) / static_cast<double>(largest));
  const float middle = at.x + half;
  const float top = at.y + Em(0.2f);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (change != 0)
    list.AddRectFilled({std::min(middle, middle + bar), top},
                       {std::max(middle, middle + bar), top + Em(0.65f)},
                       change > 0 ? look().colors.warning : look().colors.accent, 2);
  list.AddLine({middle, at.y}, {middle, at.y + Em(1)}, look().colors.line);
}

struct ComparedRow {
  std::string name;
  const Row* row;
  ImU32 color;  // of a square before the name; 0 = none
};

void ShowRows(NamedTable& table, const char* heading, const std::vector<ComparedRow>& lines) {
  if (lines.empty()) return;
  table.NextName();
  PushFont(look().fonts.strong);
  ImGui::TextUnformatted(heading);
  ImGui::PopFont();
  int64_t largest = 0;
  for (const ComparedRow& line : lines) largest = std::max<int64_t>(largest, std::abs(line.row->change()));
  for (const ComparedRow& line : lines) {
    table.NextName();
    if (line.color != 0) {
      const ImVec2 at = ImGui::GetCursorScreenPos();
      ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + Em(0.65f), at.y + Em(0.85f)},
                                                line.color, 2);
    }
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1));
    const std::string fitted = table.Fit(line.name);
    ImGui::TextUnformatted(fitted.c_str());
    if (fitted != line.name && ImGui::IsItemHovered()) ImGui::SetTooltip("%s", line.name.c_str());
    table.Figure(text::FormatBytes(line.row->before));
    table.Figure(text::FormatBytes(line.row->after));
    table.Figure(text::FormatSignedBytes(line.row->change()));
    table.Figure(line.row->change() == 0 ? "" : diff::PercentText(*line.row));
    if (!table.shows_spare()) continue;
    table.NextFigure();
    ShowChangeBar(line.row->change(), largest);
  }
}

void ShowTable(App& app, const diff::Diff& diff, ImVec2 size) {
  NamedTable table;
  if (!table.Begin("changes",
                   {{"At the peak", 8},
                    {"Before", 5.5f, 0, true},
                    {"After", 5.5f, 0, true},
                    {"Change", 5.5f, 0, true},
                    {"", 4.5f},
                    {"", 3, 0.5f, false, true}},
                   0, ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY, size))
    return;
  std::vector<ComparedRow> lines;
  for (const Row& row : diff.categories) {
    const auto category = classify::CategoryFromKey(row.name);
    lines.push_back(
        {diff::CategoryName(diff, row), &row, ColorOf(category.value_or(classify::Category::kUnattributed))});
  }
  ShowRows(table, "Category", lines);
  for (const auto& [kind, heading] :
       {std::pair{Owner::Kind::kModulePattern, "Module"}, std::pair{Owner::Kind::kOp, "Operator"},
        std::pair{Owner::Kind::kStack, "Line of code"}}) {
    lines.clear();
    for (const OwnerRow& row : diff.owners) {
      if (row.kind == kind && lines.size() < kMostRows) lines.push_back({diff::OwnerName(row), &row, 0});
    }
    ShowRows(table, heading, lines);
  }
  table.End();
  app.NameLastItem("compare.table");
}

}  // namespace

void ShowCompare(App& app, ImVec2 size) {
  Session& session = app.session;
  if (session.files().size() < 2) {
    return ShowWhyEmpty(size,
                        "Only one file is open. Drop a second one on the window, or start with both: "
                        "vramscope view before.vms after.vms");
  }
  app.compared.Follow(session.place.file, session.files().size());
  ImGui::BeginChild("compare", size);
  ShowChoice(app);
  const Document* first = session.files()[app.compared.before]->document.get();
  const Document* second = session.files()[app.compared.after]->document.get();
  const ImVec2 rest = ImGui::GetContentRegionAvail();
  if (first == nullptr || second == nullptr) {
    ShowWhyEmpty(rest, "The other file is still being loaded, or it could not be read.");
  } else {
    app.comparison.Update(*first, *second, session.wake());
    app.WaitFor(app.comparison.busy());
    const auto& made = app.comparison.comparison();
    if (!made) {
      ShowWhyEmpty(rest, "Comparing ...");
    } else if (!made->ok()) {
      ShowWhyEmpty(rest, text::OneLine(made->error().sentence));
    } else {
      const Comparison& comparison = made->value();
      ShowCauses(comparison);
      ShowStepPeaks(app, comparison, Em(7));
      ShowTable(app, comparison.diff, ImGui::GetContentRegionAvail());
    }
  }
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
