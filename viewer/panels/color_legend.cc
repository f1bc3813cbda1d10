// SPDX-License-Identifier: Apache-2.0
// The control that chooses what the colors of blocks show, and the legend.
#include <fmt/format.h>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr float kLine = 1.3f;  // in Em
constexpr float kMostText = 16;

// Calls `draw(entry, text, size, x, line)` for each entry at its position; returns the number of lines.
template <typename Draw>
size_t Flow(const std::vector<LegendEntry>& legend, float width, const Draw& draw) {
  size_t line = 0;
  float x = 0;
  for (const LegendEntry& entry : legend) {
    const std::string text = FitText(look().fonts.small, entry.text, Em(kMostText));
    const std::string size = text::FormatBytes(entry.bytes);
    const float needed =
        Em(1) + TextSize(look().fonts.small, text).x + Em(0.4f) + TextSize(look().fonts.small, size).x;
    if (x > 0 && x + needed > width) {
      ++line;
      x = 0;
    }
    draw(entry, text, size, x, line);
    x += needed + Em(1.2f);
  }
  return legend.empty() ? 0 : line + 1;
}

}  // namespace

void ShowColoringChoice(App& app, float width) {
  Session& session = app.session;
  ImGui::SetNextItemWidth(width);
  const auto title = [](Coloring by) { return fmt::format("by {}", Info(by).name); };
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {Em(0.4f), Em(0.1f)});
  const bool open = ImGui::BeginCombo("##coloring", title(session.coloring).c_str());
  ImGui::PopStyleVar();
  if (!open) {
    app.NameLastItem("coloring");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("What the colors of blocks mean. Key: c");
    return;
  }
  for (size_t i = 0; i < kColoringCount; ++i) {
    const auto by = static_cast<Coloring>(i);
    if (ImGui::Selectable(title(by).c_str(), by == session.coloring)) session.Color(by);
    app.NameLastItem(fmt::format("coloring.{}", Info(by).key));
  }
  ImGui::EndCombo();
}

float LegendHeight(const std::vector<LegendEntry>& legend, float width) {
  const size_t lines =
      Flow(legend, width, [](const LegendEntry&, const std::string&, const std::string&, float, size_t) {});
  return static_cast<float>(lines) * Em(kLine);
}

void DrawLegend(ImDrawList& list, ImVec2 at, const std::vector<LegendEntry>& legend, float width) {
  const Look& l = look();
  Flow(legend, width,
       [&](const LegendEntry& entry, const std::string& text, const std::string& size, float x, size_t line) {
         const ImVec2 place = {at.x + x, at.y + static_cast<float>(line) * Em(kLine)};
         const float y = place.y + (Em(kLine) - l.fonts.small.size) / 2;
         const float box = place.y + (Em(kLine) - Em(0.7f)) / 2;
         list.AddRectFilled({place.x, box}, {place.x + Em(0.7f), box + Em(0.7f)}, FromRgb(entry.rgb), 2);
         DrawText(list, l.fonts.small, {place.x + Em(1), y}, l.colors.text, text);
         DrawText(list, l.fonts.small, {place.x + Em(1.4f) + TextSize(l.fonts.small, text).x, y},
                  l.colors.dim, size);
       });
}

}  // namespace vramscope::viewer
