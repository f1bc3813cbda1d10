// SPDX-License-Identifier: Apache-2.0
// All ranks of a job: a heat map of the peak of every step of every rank, and what stands out, with its
// reason.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "profiler/fleet/words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

// A color from the lowest to the highest cell. Lightness changes too, so it can be read without seeing
// colors.
ImU32 HeatColor(double share) {
  constexpr std::array<ImVec4, 6> kStops = {ImVec4(37, 60, 94, 1),    ImVec4(52, 116, 168, 1),
                                            ImVec4(120, 178, 186, 1), ImVec4(238, 196, 108, 1),
                                            ImVec4(226, 112, 58, 1),  ImVec4(178, 34, 42, 1)};
  const double at = std::clamp(share, 0.0, 1.0) * (kStops.size() - 1);
  const size_t below = std::min(static_cast<size_t>(at), kStops.size() - 2);
  const auto mix = [&](float a, float b) {
    return static_cast<int>(std::lround(a + (b - a) * static_cast<float>(at - static_cast<double>(below))));
  };
  const ImVec4& a = kStops[below];
  const ImVec4& b = kStops[below + 1];
  return IM_COL32(mix(a.x, b.x), mix(a.y, b.y), mix(a.z, b.z), 255);
}

ImU32 CellColor(const JobAnswer& answer, uint64_t bytes) {
  if (bytes == 0) return look().colors.free;
  if (answer.highest == answer.lowest) return HeatColor(0);
  return HeatColor(static_cast<double>(bytes - answer.lowest) /
                   static_cast<double>(answer.highest - answer.lowest));
}

// Makes all views show the cell's rank and step; the ranks view stays on the screen.
void ShowRankAt(App& app, const JobAnswer& answer, const HeatCell& cell) {
  Session& session = app.session;
  const OpenRank place = answer.places[cell.rank];
  session.Remember();
  if (session.place.file != place.file) {
    session.ShowFile(place.file);
    session.place.tab = Tab::kRanks;
  }
  session.ShowDevice(place.device);
  if (cell.step != 0) (void)session.GoTo(fmt::format("step:{},peak", cell.step));
}

struct HeatGrid {
  ImVec2 min;  // of the cells
  float cell = 1;
  float row = 1;
  size_t columns = 0;

  [[nodiscard]] float X(size_t column) const { return min.x + cell * static_cast<float>(column); }
  [[nodiscard]] float Y(size_t number) const { return min.y + row * static_cast<float>(number); }
  [[nodiscard]] float right() const { return X(columns); }
};

void DrawHeatRow(App& app, const JobAnswer& answer, const HeatGrid& grid, size_t number, float left) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float gap = grid.row >= Em(0.5f) ? 1 : 0;
  const float y = grid.Y(number);
  const auto& bytes = answer.heat.rows[number].bytes;
  for (size_t i = 0, begin = 0; i < bytes.size(); begin = i) {
    // Cells of one value are one rectangle where they have no gaps.
    do ++i;
    while (grid.cell < Em(0.4f) && i < bytes.size() && bytes[i] == bytes[begin]);
    list.AddRectFilled({grid.X(begin), y},
                       {grid.X(i) - (grid.cell >= Em(0.4f) ? 1.0f : 0.0f), y + grid.row - gap},
                       CellColor(answer, bytes[begin]));
  }
  const bool stands_out = !answer.reasons[number].empty();
  if (stands_out) {  // also a shape, because not everybody sees the color
    const float middle = y + grid.row / 2;
    const float half = std::min(Em(0.3f), grid.row * 0.4f);
    list.AddTriangleFilled({grid.min.x - Em(0.75f), middle - half}, {grid.min.x - Em(0.75f), middle + half},
                           {grid.min.x - Em(0.25f), middle}, look().colors.warning);
  }
  if (grid.row >= look().fonts.small.size * 0.95f)
    DrawText(
        list, look().fonts.small, {left, y + (grid.row - look().fonts.small.size) / 2},
        stands_out ? look().colors.text : look().colors.dim,
        FitText(look().fonts.small, text::OneLine(answer.heat.rows[number].name), grid.min.x - left - Em(1)));
  app.Name(fmt::format("ranks.row.{}", number), {grid.min.x, y}, {grid.right(), y + grid.row});
}

// The rank and the step that the other views show.
void DrawShownCell(App& app, const JobAnswer& answer, const HeatGrid& grid) {
  const Session& session = app.session;
  const timeline::Step* step = session.document()->training(*session.device()).StepAt(session.place.moment);
  for (size_t rank = 0; rank < answer.places.size(); ++rank) {
    const OpenRank& place = answer.places[rank];
    if (place.file != session.place.file || place.device != session.place.device) continue;
    const size_t row = rank / answer.heat.ranks_per_row;
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRect({grid.min.x, grid.Y(row)}, {grid.right(), grid.Y(row + 1)},
                 WithAlpha(look().colors.text, 0.5f));
    if (step == nullptr || step->number < answer.heat.first_step) return;
    const size_t column = (step->number - answer.heat.first_step) / answer.heat.steps_per_column;
    if (column >= grid.columns) return;
    const ImVec2 min = {grid.X(column) - 1, grid.Y(row) - 1};
    const ImVec2 max = {std::max(grid.X(column + 1), grid.X(column) + 3), grid.Y(row + 1) + 1};
    list.AddRect(min, max, look().colors.text);  // one of the two is seen on any color
    list.AddRect({min.x + 1, min.y + 1}, {max.x - 1, max.y - 1}, look().colors.background);
    return;
  }
}

void DrawStepNumbers(const JobAnswer& answer, const HeatGrid& grid, float y) {
  const float room = TextSize(look().fonts.small, "step 100,000").x + Em(1);
  const auto every = std::max<size_t>(1, static_cast<size_t>(std::ceil(room / grid.cell)));
  for (size_t column = 0; column < grid.columns; column += every)
    DrawText(*ImGui::GetWindowDrawList(), look().fonts.small, {grid.X(column), y}, look().colors.dim,
             (column == 0 ? "step " : "") +
                 text::FormatCount(answer.heat.first_step + column * answer.heat.steps_per_column));
}

void ShowScale(const JobAnswer& answer) {
  const std::string lowest = text::FormatBytes(answer.lowest);
  const std::string highest = text::FormatBytes(answer.highest);
  const float width = Em(8);
  ShowHeading("Peak of each step");
  StayOnLine(ImGui::CalcTextSize((lowest + highest).c_str()).x + width + Em(1), Em(1));
  ImGui::TextDisabled("%s", lowest.c_str());
  ImGui::SameLine(0, Em(0.5f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  constexpr int kParts = 5;  // between the colors that are given
  for (int i = 0; i < kParts; ++i) {
    const ImU32 from = HeatColor(static_cast<double>(i) / kParts);
    const ImU32 to = HeatColor(static_cast<double>(i + 1) / kParts);
    ImGui::GetWindowDrawList()->AddRectFilledMultiColor(
        {std::floor(at.x + width * static_cast<float>(i) / kParts), at.y + Em(0.25f)},
        {std::floor(at.x + width * static_cast<float>(i + 1) / kParts), at.y + Em(0.85f)}, from, to, to,
        from);
  }
  ImGui::Dummy({width, Em(1)});
  ImGui::SameLine(0, Em(0.5f));
  ImGui::TextDisabled("%s", highest.c_str());
}

void ShowHeat(App& app, const JobAnswer& answer, float most_height) {
  const auto rows = static_cast<float>(answer.heat.rows.size());
  const float numbers = look().fonts.small.size + Em(0.4f);
  const float row =
      std::clamp(std::floor((most_height - numbers - Em(0.8f)) / rows), 3.0f, std::floor(Em(1.5f)));
  const float height = std::min(most_height, row * rows + numbers + Em(0.8f));
  ImGui::BeginChild("heat", {0, height});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  float label = Em(1);
  if (row >= look().fonts.small.size * 0.95f)
    for (const auto& one : answer.heat.rows)
      label = std::max(label, TextSize(look().fonts.small, text::OneLine(one.name)).x + Em(1.4f));
  label = std::min(label, width * 0.3f);
  HeatGrid grid;
  grid.min = {std::floor(at.x + label), at.y};
  grid.columns = answer.heat.rows.front().bytes.size();
  grid.cell = std::max((at.x + width - grid.min.x) / static_cast<float>(grid.columns), 0.5f);
  grid.cell = std::min(grid.cell, Em(6));
  grid.row = row;
  ImGui::InvisibleButton("cells", {width, row * rows});
  const bool hovered = ImGui::IsItemHovered();
  const bool clicked = ImGui::IsItemClicked();
  app.NameLastItem("ranks.heat");
  const float visible_top = ImGui::GetWindowPos().y;
  const float visible_bottom = visible_top + ImGui::GetWindowHeight();
  for (size_t i = 0; i < answer.heat.rows.size(); ++i)
    if (grid.Y(i + 1) >= visible_top && grid.Y(i) <= visible_bottom) DrawHeatRow(app, answer, grid, i, at.x);
  DrawShownCell(app, answer, grid);
  DrawStepNumbers(answer, grid, grid.Y(answer.heat.rows.size()) + Em(0.15f));
  ImGui::Dummy({0, numbers - Em(0.3f)});
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (hovered && mouse.x >= grid.min.x && mouse.x < grid.right()) {
    const auto number = static_cast<size_t>((mouse.y - grid.min.y) / grid.row);
    const auto column = static_cast<size_t>((mouse.x - grid.min.x) / grid.cell);
    app.hover_cell = CellText(answer, number, column);
    const std::optional<HeatCell> cell = CellAt(answer, number, column);
    if (ImGui::BeginTooltip()) {
      std::istringstream lines(app.hover_cell);
      for (std::string line; std::getline(lines, line);) ShowWrapped(line);
      if (cell.has_value()) ShowNote("Click: show this rank at this step in all views.");
      ImGui::EndTooltip();
    }
    if (clicked && cell.has_value()) ShowRankAt(app, answer, *cell);
  }
  ImGui::EndChild();
}

void ShowFindings(App& app, const JobAnswer& answer) {
  ShowHeading("What stands out", "compared with the median of ranks that should be alike");
  ImGui::BeginChild("findings", {0, 0});
  using Kind = fleet::Finding::Kind;
  if (answer.job.findings.empty())
    ShowNote("Nothing stands out: the ranks are alike, and none of them failed.");
  for (size_t i = 0; i < answer.job.findings.size(); ++i) {
    const fleet::Finding& finding = answer.job.findings[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const bool bad = finding.kind == Kind::kOutOfMemory || finding.kind == Kind::kDead;
    ImGui::Indent(Em(0.7f));
    ShowWrapped(text::OneLine(finding.text));
    ImGui::Unindent(Em(0.7f));
    const ImVec2 end = {at.x + ImGui::GetContentRegionAvail().x,
                        ImGui::GetCursorScreenPos().y - ImGui::GetStyle().ItemSpacing.y};
    ImGui::GetWindowDrawList()->AddRectFilled(at, {at.x + Em(0.2f), end.y},
                                              bad ? look().colors.bad : look().colors.warning);
    app.Name(fmt::format("ranks.finding.{}", i), at, end);
    const std::optional<HeatCell> cell = CellOf(answer, finding);
    if (!cell.has_value() || !ImGui::IsWindowHovered() || !ImGui::IsMouseHoveringRect(at, end)) continue;
    ImGui::SetTooltip("Click: show %s in all views.", text::OneLine(answer.job.NameOf(cell->rank)).c_str());
    if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) ShowRankAt(app, answer, *cell);
  }
  for (const std::string& note : answer.job.notes) ShowNote(text::OneLine(note));
  ImGui::EndChild();
}

}  // namespace

void ShowRanks(App& app, ImVec2 size) {
  std::vector<const Document*> files;
  for (const auto& file : app.session.files()) files.push_back(file->document.get());
  app.job.Update(files, app.session.place.file, app.session.wake());
  app.WaitFor(app.job.busy());
  app.hover_cell.clear();
  const auto& answer = app.job.answer();
  if (!answer) return ShowWhyEmpty(size, "Comparing the ranks ...");
  if (answer->job.ranks.size() < 2)
    return ShowWhyEmpty(size,
                        "This file has one rank. Open the files of the job's other ranks too: vramscope view "
                        "job/*.vms");
  ImGui::BeginChild("ranks_view", size);
  ShowHeading(text::OneLine(fleet::Headline(answer->job)));
  if (answer->heat.rows.empty()) {
    ShowNote("No training steps were recorded, so there is no picture of ranks and steps.");
  } else {
    ShowScale(*answer);
    ShowHeat(app, *answer, std::max(Em(6), ImGui::GetContentRegionAvail().y * 0.62f));
  }
  ShowFindings(app, *answer);
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
