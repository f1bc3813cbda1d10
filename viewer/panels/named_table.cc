// SPDX-License-Identifier: Apache-2.0
#include "viewer/panels/named_table.h"

#include <imgui_internal.h>

#include <algorithm>

namespace vramscope::viewer {
namespace {

void ShowAtRight(const std::string& text) {
  const float room = ImGui::GetContentRegionAvail().x - ImGui::CalcTextSize(text.c_str()).x;
  if (room > 0) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + room);
  ImGui::TextUnformatted(text.c_str());
}

// Where names are above the figures, columns are only as wide as a figure or their title.
float NarrowWidth(const NamedTable::Column& column) {
  constexpr float kFigure = 4;  // text heights: "1,023 MiB"
  return std::max(TextSize(look().fonts.small, column.title).x, Em(std::min(column.width, kFigure)));
}
float NarrowPadding() { return ImGui::GetStyle().CellPadding.x / 2; }

}  // namespace

bool NamedTable::Begin(const char* id, const std::vector<Column>& columns, size_t names,
                       ImGuiTableFlags flags, ImVec2 size) {
  names_ = static_cast<int>(names);
  striped_ = (flags & ImGuiTableFlags_RowBg) != 0;
  float wanted = ImGui::GetStyle().ScrollbarSize;
  for (const Column& column : columns) wanted += Em(column.width) + 2 * ImGui::GetStyle().CellPadding.x;
  above_ = wanted > ImGui::GetContentRegionAvail().x;
  float least = ImGui::GetStyle().ScrollbarSize;  // of the figures, where names are above them
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i != names) least += NarrowWidth(columns[i]) + 2 * NarrowPadding();
  }
  shows_spare_ = !above_ || least <= ImGui::GetContentRegionAvail().x;
  size_t count = columns.size() - (above_ ? 1 : 0);
  if (columns.back().spare && !shows_spare_) --count;
  const ImVec2 padding = ImGui::GetStyle().CellPadding;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {above_ ? NarrowPadding() : padding.x, padding.y});
  if (!ImGui::BeginTable(id, static_cast<int>(count), flags | ImGuiTableFlags_NoSavedSettings, size)) {
    ImGui::PopStyleVar();
    return false;
  }
  if ((flags & ImGuiTableFlags_ScrollY) != 0) ImGui::TableSetupScrollFreeze(0, above_ ? 2 : 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    const float share = i == names ? 1 : column.stretch;
    if (above_ && (i == names || (column.spare && !shows_spare_))) continue;
    if (above_ || share != 0)
      ImGui::TableSetupColumn(column.title, ImGuiTableColumnFlags_WidthStretch,
                              above_ ? NarrowWidth(column) : share);
    else
      ImGui::TableSetupColumn(column.title, ImGuiTableColumnFlags_WidthFixed, Em(column.width));
  }
  NextName(ImGuiTableRowFlags_Headers);
  Title(columns[names]);
  for (size_t i = 0; i < columns.size(); ++i) {
    if (i == names || (columns[i].spare && !shows_spare_)) continue;
    NextFigure();
    Title(columns[i]);
  }
  return true;
}

void NamedTable::Title(const Column& column) {
  if (above_) PushFont(look().fonts.small);
  if (column.right)
    ShowAtRight(column.title);
  else
    ImGui::TextUnformatted(column.title);
  if (above_) ImGui::PopFont();
}

void NamedTable::Figure(const std::string& text) {
  NextFigure();
  PushFont(look().fonts.mono);
  ShowAtRight(text);
  ImGui::PopFont();
}

void NamedTable::NextName(ImGuiTableRowFlags flags) {
  EndName();
  figure_ = 0;
  row_flags_ = flags;
  ++rows_;
  BeginLine();
  ImGui::TableSetColumnIndex(above_ ? 0 : names_);
  if (!above_) return;
  in_name_ = true;
  ImGui::TablePushBackgroundChannel();  // which is not clipped to the first column
  ImGuiWindow& window = *ImGui::GetCurrentWindow();
  cell_right_ = window.WorkRect.Max.x;
  widest_ = window.DC.CursorMaxPos.x;
  window.WorkRect.Max.x = ImGui::GetCurrentTable()->WorkRect.Max.x - ImGui::GetStyle().CellPadding.x;
}

// A line of the table. The two lines of a row have one background.
void NamedTable::BeginLine() {
  ImGui::TableNextRow(row_flags_);
  if (above_ && striped_ && row_flags_ == ImGuiTableRowFlags_None)
    ImGui::TableSetBgColor(ImGuiTableBgTarget_RowBg0,
                           ImGui::GetColorU32(rows_ % 2 == 0 ? ImGuiCol_TableRowBg : ImGuiCol_TableRowBgAlt));
}

void NamedTable::EndName() {
  if (!in_name_) return;
  in_name_ = false;
  ImGuiWindow& window = *ImGui::GetCurrentWindow();
  window.WorkRect.Max.x = cell_right_;
  window.DC.CursorMaxPos.x = widest_;  // the name does not make its column wider
  ImGui::TablePopBackgroundChannel();
}

void NamedTable::NextFigure() {
  if (in_name_) {
    EndName();
    BeginLine();
  }
  if (!above_ && figure_ == names_) ++figure_;
  ImGui::TableSetColumnIndex(figure_++);
}

std::string NamedTable::Fit(const std::string& name) const {
  const float width = ImGui::GetContentRegionAvail().x;
  return above_ ? WrapText(look().fonts.text, name, width) : FitText(look().fonts.text, name, width);
}

void NamedTable::End() {
  EndName();
  ImGui::EndTable();
  ImGui::PopStyleVar();
}

}  // namespace vramscope::viewer
