// SPDX-License-Identifier: Apache-2.0
// The axes of the timeline, and the lines over its stack: reserved memory, device used, capacity. A line's
// name at its right end is a button: it brings a line that lies above the picture into it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

void DrawStepLine(ImDrawList& list, const MemoryPlot& plot, const std::vector<Extremes>& line, ImU32 color) {
  const float width = std::max(1.0f, std::round(look().scale));
  float x_from = plot.min.x;
  float y_from = -1;
  const auto flush = [&](float x) {
    if (y_from >= 0) list.AddRectFilled({x_from, y_from}, {x, y_from + width}, color);
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const float x = plot.min.x + static_cast<float>(i);
    const float high = line[i].empty() ? -1 : std::round(plot.Y(static_cast<double>(line[i].high)));
    if (high != y_from) {
      flush(x);
      if (y_from >= 0 && high >= 0) {
        list.AddRectFilled({x, std::min(high, y_from)}, {x + width, std::max(high, y_from) + width}, color);
      }
      x_from = x;
      y_from = high;
    }
    if (line[i].empty()) continue;
    const float low = std::round(plot.Y(static_cast<double>(line[i].low)));
    if (low > high + 1) list.AddRectFilled({x, high}, {x + 1, low}, color);
  }
  flush(plot.min.x + static_cast<float>(line.size()));
}

// Draws the capacity as dashes, so that it does not look like a measured line.
void DrawCapacity(ImDrawList& list, const MemoryPlot& plot, uint64_t capacity) {
  const float y = std::round(plot.Y(static_cast<double>(capacity)));
  const float width = std::max(1.0f, std::round(look().scale));
  const float dash = std::round(Em(0.5f));
  for (float x = plot.min.x; x < plot.max.x; x += 2 * dash)
    list.AddRectFilled({x, y}, {std::min(x + dash, plot.max.x), y + width}, ColorOf(MemoryLine::kCapacity));
}

}  // namespace

ImU32 ColorOf(MemoryLine line) {
  const Colors& colors = look().colors;
  return line == MemoryLine::kReserved ? colors.reserved
         : line == MemoryLine::kUsed   ? colors.used
                                       : colors.dim;
}

void DrawMemoryLines(const App& app, const MemoryPlot& plot, const TimelinePicture& picture) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const MemoryLineChoice& lines = app.session.lines;
  const auto shown = [&](MemoryLine line) { return lines.shown[static_cast<size_t>(line)]; };
  const auto& capacity = app.session.device()->capacity;
  if (shown(MemoryLine::kCapacity) && capacity) DrawCapacity(list, plot, *capacity);
  if (shown(MemoryLine::kReserved))
    DrawStepLine(list, plot, picture.reserved, ColorOf(MemoryLine::kReserved));
  if (shown(MemoryLine::kUsed)) DrawStepLine(list, plot, picture.used, ColorOf(MemoryLine::kUsed));
}

void DrawLineLabels(App& app, const MemoryPlot& plot, const TimelinePicture& picture) {
  const Look& l = look();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float height = Em(1.25f);
  const float plot_height = plot.max.y - plot.min.y;
  if (plot_height < 4 * height) return;
  const Session& session = app.session;
  for (const MemoryLineLabel& label :
       LabelsOf(picture, session.device()->capacity, session.lines, plot.axis, height / plot_height)) {
    const std::string text = fmt::format("{} {}", Info(label.line).name, text::FormatBytes(label.bytes));
    const ImVec2 size = TextSize(l.fonts.small, text);
    const float arrow = label.share > 1 ? Em(0.7f) : 0;
    const float middle = plot.max.y - static_cast<float>(label.place) * plot_height;
    const ImVec2 max = {plot.max.x - Em(0.3f), middle + height / 2};
    const ImVec2 min = {max.x - size.x - arrow - Em(0.7f), middle - height / 2};
    if (min.x < plot.min.x || max.y > plot.max.y) continue;
    const bool hovered = ImGui::IsMouseHoveringRect(min, max);
    list.AddRectFilled(min, max, WithAlpha(hovered ? l.colors.raised : l.colors.panel, 0.88f), Em(0.25f));
    DrawText(list, l.fonts.small, {min.x + Em(0.35f), middle - size.y / 2}, ColorOf(label.line), text);
    if (arrow > 0) {
      const float x = max.x - Em(0.65f);
      list.AddTriangleFilled({x - Em(0.28f), middle + Em(0.2f)}, {x + Em(0.28f), middle + Em(0.2f)},
                             {x, middle - Em(0.25f)}, ColorOf(label.line));
    }
    app.line_labels.push_back({label.line, {min, max}});
    app.Name(fmt::format("timeline.line.{}", Info(label.line).key), min, max);
  }
}

bool HandleLineLabels(App& app, bool hovered) {
  if (!hovered) return false;
  for (const DrawnLineLabel& label : app.line_labels) {
    if (!ImGui::IsMouseHoveringRect(label.where.min, label.where.max)) continue;
    bool& reached = app.session.lines.reached[static_cast<size_t>(label.line)];
    ImGui::SetTooltip("%s", reached ? "Click: the axis follows allocated memory again."
                                    : "Click: the axis reaches up to this line.");
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
      reached = !reached;
      app.session.place.memory = {};
    }
    return true;
  }
  return false;
}

void ZoomMemory(App& app, const MemoryPlot& plot) {
  const ImGuiIO& io = ImGui::GetIO();
  if (!io.KeyCtrl || io.MouseWheel == 0) return;
  MemoryZoom& zoom = app.session.place.memory;
  const double at =
      zoom.low + (plot.max.y - io.MousePos.y) / (plot.max.y - plot.min.y) * (zoom.high - zoom.low);
  zoom.Zoom(std::pow(1.25, io.MouseWheel), at);
}

void ShowAxisChoice(App& app, ImVec2 at, ImVec2 size) {
  const Look& l = look();
  ImGui::SetCursorScreenPos(at);
  if (ImGui::InvisibleButton("time axis", size)) NextTimeAxis(app);
  app.NameLastItem("time.axis");
  const bool hovered = ImGui::IsItemHovered();
  if (hovered)
    ImGui::SetTooltip("%s", "The x axis counts time, events or steps. Click or press x to change it.");
  const std::string text = fmt::format("by {}", TimeAxisKey(app.session.time_axis()));
  const ImVec2 extent = TextSize(l.fonts.small, text);
  DrawText(*ImGui::GetWindowDrawList(), l.fonts.small,
           {at.x + size.x - extent.x, at.y + (size.y - extent.y) / 2}, hovered ? l.colors.text : l.colors.dim,
           text);
}

void NextTimeAxis(App& app) {
  Session& session = app.session;
  const TimeAxis before = session.time_axis();
  session.Remember();
  // If the run has no steps or no times, takes the axis after that.
  for (int by = 1; by < 3 && session.time_axis() == before; ++by)
    session.ShowTimeAxis(static_cast<TimeAxis>((static_cast<int>(before) + by) % 3));
}

}  // namespace vramscope::viewer
