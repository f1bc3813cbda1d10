// SPDX-License-Identifier: Apache-2.0
// The part of the details that shows what changed over the selected range. A click on a row filters the table
// by it.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostLines = 12;

// True if it was clicked.
bool ShowChangeRow(App& app, const std::string& id, const std::string& name, int64_t bytes, ImU32 color) {
  const Look& l = look();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const bool clicked = ImGui::InvisibleButton(id.c_str(), {width, Em(1.3f)});
  app.NameLastItem(id);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (ImGui::IsItemHovered()) {
    list.AddRectFilled(at, {at.x + width, at.y + Em(1.3f)}, l.colors.raised, Em(0.2f));
    ImGui::SetTooltip("%s\nClick: list these blocks.", name.c_str());
  }
  const std::string figure = text::FormatSignedBytes(bytes);
  const float figure_width = TextSize(l.fonts.mono, figure).x;
  float x = at.x;
  if (color != 0) {
    list.AddRectFilled({x, at.y + Em(0.3f)}, {x + Em(0.65f), at.y + Em(0.95f)}, color, 2);
    x += Em(1);
  }
  DrawText(list, l.fonts.text, {x, at.y + Em(0.15f)}, l.colors.text,
           FitText(l.fonts.text, name, at.x + width - x - figure_width - Em(0.6f)));
  DrawText(list, l.fonts.mono, {at.x + width - figure_width, at.y + Em(0.2f)},
           bytes > 0 ? l.colors.warning : l.colors.accent, figure);
  return clicked;
}

}  // namespace

void ShowRangeChange(App& app, const DeviceView& device) {
  Session& session = app.session;
  // Not during a drag: the figures above follow it, but this part reads all live blocks.
  if (app.drag_from_ns && ImGui::IsMouseDown(ImGuiMouseButton_Left)) return;
  const ListedBlocks range = session.RangeEvents();
  const RangeChange& change = app.range_change.Of(*session.document(), device, range.first, range.last);
  ImGui::Dummy({0, Em(0.2f)});
  ImGui::TextDisabled("FROM BEGIN TO END");
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 0});
  for (const auto& [category, bytes] : change.categories) {
    const classify::CategoryInfo& info = classify::Info(category);
    if (ShowChangeRow(app, fmt::format("change.{}", info.key), info.name, bytes, ColorOf(category)))
      session.FilterBy("category", info.key);
  }
  if (change.categories.empty()) ImGui::TextDisabled("nothing changed");
  for (size_t i = 0; i < std::min(change.lines.size(), kMostLines); ++i) {
    const ChangeOfLine& line = change.lines[i];
    if (ShowChangeRow(app, fmt::format("change.line.{}", i), text::OneLine(line.name), line.bytes, 0))
      session.FilterBy("line", line.name);
  }
  ImGui::PopStyleVar();
  if (change.lines.size() > kMostLines)
    ImGui::TextDisabled("and %s", text::FormatCount(change.lines.size() - kMostLines, "other line").c_str());
}

}  // namespace vramscope::viewer
