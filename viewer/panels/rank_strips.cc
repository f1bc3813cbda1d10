// SPDX-License-Identifier: Apache-2.0
// All GPUs of the job above the timeline: one strip each, on its time axis. A click opens one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr float kStripRow = 1.5f;  // in Em

void DrawStrip(ImDrawList& list, const std::vector<uint64_t>& columns, uint64_t top, ImVec2 min, float height,
               ImU32 color) {
  size_t first = 0;
  float first_y = 0;
  const auto flush = [&](size_t end) {
    if (end > first && first_y < min.y + height)
      list.AddRectFilled({min.x + static_cast<float>(first), first_y},
                         {min.x + static_cast<float>(end), min.y + height}, color);
  };
  for (size_t i = 0; i < columns.size(); ++i) {
    const float share = static_cast<float>(static_cast<double>(columns[i]) / static_cast<double>(top));
    const float y = std::round(min.y + height - share * (height - 2));
    if (i > first && y == first_y) continue;
    flush(i);
    first = i;
    first_y = y;
  }
  flush(columns.size());
}

void ShowStrip(App& app, size_t number, float left, float right) {
  const Look& l = look();
  Session& session = app.session;
  const RankStrip& strip = app.strips.strips()[number];
  const bool open = session.place.file == strip.file && session.place.device == strip.device;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = Em(kStripRow);
  ImGui::PushID(static_cast<int>(number));
  if (ImGui::InvisibleButton("strip", {right - at.x, height - 1}) && !open) {
    session.Remember();
    session.ShowAtSameTime(strip.file, strip.device, strip.later_ns);
  }
  ImGui::PopID();
  app.NameLastItem(fmt::format("strip.{}", number));
  const bool hovered = ImGui::IsItemHovered();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (open || hovered)
    list.AddRectFilled(at, {right, at.y + height - 1}, open ? l.colors.selected : l.colors.raised, Em(0.2f));
  const auto columns = static_cast<size_t>(std::max(right - left, 1.0f));
  const ImU32 color = strip.stands_out.empty() ? l.colors.accent : l.colors.warning;
  DrawStrip(list, app.strips.Columns(number, session.place.window, columns), app.strips.top(), {left, at.y},
            height - 1, WithAlpha(color, open ? 0.75f : 0.5f));
  const float text_y = at.y + (height - l.fonts.small.size) / 2;
  DrawText(list, l.fonts.small, {at.x + Em(0.2f), text_y}, open ? l.colors.text : l.colors.dim,
           FitText(l.fonts.small, strip.name, left - at.x - Em(0.3f)));
  const std::string peak = "peak " + text::FormatBytes(strip.peak);
  const ImVec2 size = TextSize(l.fonts.small, peak);
  const ImVec2 peak_at = {right - size.x - Em(0.4f), text_y};
  list.AddRectFilled({peak_at.x - Em(0.2f), text_y - 1}, {right - Em(0.2f), text_y + size.y + 1},
                     WithAlpha(l.colors.panel, 0.8f), 2);
  DrawText(list, l.fonts.small, peak_at, strip.stands_out.empty() ? l.colors.dim : l.colors.warning, peak);
  if (!hovered) return;
  const std::string tip = strip.title + ", peak " + text::FormatBytes(strip.peak) +
                          (strip.stands_out.empty() ? "" : "\n" + strip.stands_out) +
                          (open ? ""
                                : "\n"
                                  "Click: show this rank in all views.");
  ImGui::SetTooltip("%s", tip.c_str());
}

}  // namespace

float ShowRankStrips(App& app, ImVec2 size) {
  std::vector<const Document*> files;
  for (const auto& file : app.session.files()) files.push_back(file->document.get());
  app.strips.Update(files, app.session.place.file);
  const size_t count = app.strips.strips().size();
  if (count == 0) return 0;
  const float wanted = Em(kStripRow) * static_cast<float>(count);
  const float height = std::min(wanted, std::max(size.y * 0.35f, Em(kStripRow)));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {0, 1});
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, Em(0.4f));
  ImGui::BeginChild("strips", {size.x, height});
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(count), Em(kStripRow));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      ShowStrip(app, static_cast<size_t>(i), std::floor(at.x + Em(4.4f)),
                std::floor(at.x + size.x - Em(0.4f)));
  }
  clipper.End();
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  return height + Em(0.3f);
}

}  // namespace vramscope::viewer
