// SPDX-License-Identifier: Apache-2.0
// Memory over time, stacked by category, with what the allocator and the device hold above it; steps, phases
// and named ranges below.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

using classify::Category;

struct Plot {
  ImVec2 min;
  ImVec2 max;
  uint64_t top = 1;  // bytes at the upper edge
  [[nodiscard]] float Y(double bytes) const {
    return max.y - static_cast<float>(bytes / static_cast<double>(top)) * (max.y - min.y);
  }
  [[nodiscard]] float X(const TimeView& view, double time_ns) const {
    return min.x + static_cast<float>(view.PlaceOf(time_ns)) * (max.x - min.x);
  }
  [[nodiscard]] bool Holds(ImVec2 point) const {
    return point.x >= min.x && point.x < max.x && point.y >= min.y && point.y < max.y;
  }
};

void DrawGrid(ImDrawList& list, const Plot& plot, const TimeView& view, float axis_top) {
  const Look& l = look();
  const int rows = std::max(2, static_cast<int>((plot.max.y - plot.min.y) / Em(3)));
  for (const ByteTick& tick : ByteTicks(plot.top, rows)) {
    const float y = std::round(plot.Y(static_cast<double>(tick.bytes))) + 0.5f;
    list.AddLine({plot.min.x, y}, {plot.max.x, y}, WithAlpha(l.colors.line, 0.6f));
    const ImVec2 size = TextSize(l.fonts.small, tick.text);
    if (y - size.y / 2 < axis_top + Em(1)) continue;
    DrawText(list, l.fonts.small, {plot.min.x - size.x - Em(0.5f), y - size.y / 2}, l.colors.dim, tick.text);
  }
  DrawTimeAxis(list, plot.min, plot.max, view, axis_top);
}

// Bands of one category; neighboring columns of equal height become one rectangle.
void DrawStack(ImDrawList& list, const Plot& plot, const TimelinePicture& picture, CategoryMask shown) {
  std::vector<float> below(picture.memory.size(), plot.max.y);
  std::vector<uint64_t> sums(picture.memory.size(), 0);
  for (const Category category : StackOrder()) {
    if ((shown & MaskOf(category)) == 0) continue;
    const ImU32 color = ColorOf(category);
    size_t first = 0;
    float first_top = 0;
    float first_bottom = 0;
    const auto flush = [&](size_t end) {
      if (end > first && first_bottom > first_top) {
        list.AddRectFilled({plot.min.x + static_cast<float>(first), first_top},
                           {plot.min.x + static_cast<float>(end), first_bottom}, color);
      }
    };
    for (size_t i = 0; i < picture.memory.size(); ++i) {
      sums[i] += picture.memory[i].categories[static_cast<size_t>(category)];
      const float bottom = below[i];
      const float top = std::round(plot.Y(static_cast<double>(sums[i])));
      below[i] = top;
      if (i > first && top == first_top && bottom == first_bottom) continue;
      flush(i);
      first = i;
      first_top = top;
      first_bottom = bottom;
    }
    flush(picture.memory.size());
  }
}

// Where the memory changes within a column, the part above the minimum is veiled.
void DrawVeil(ImDrawList& list, const Plot& plot, const TimelinePicture& picture) {
  const ImU32 color = WithAlpha(look().colors.panel, 0.32f);
  for (size_t i = 0; i < picture.memory.size(); ++i) {
    const float top = std::round(plot.Y(static_cast<double>(picture.memory[i].high)));
    const float bottom = std::round(plot.Y(static_cast<double>(picture.memory[i].low)));
    const float x = plot.min.x + static_cast<float>(i);
    if (bottom - top >= 2) list.AddRectFilled({x, top + 1}, {x + 1, bottom}, color);
  }
}

void DrawStepLine(ImDrawList& list, const Plot& plot, const std::vector<Extremes>& line, ImU32 color) {
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

void DrawBands(ImDrawList& list, const Plot& plot, const TimelinePicture& picture, float top) {
  const Look& l = look();
  const float step_height = Em(1.25f);
  const float phase_top = top + step_height + 1;
  const float phase_height = Em(1.1f);
  const auto band = [&](size_t first, size_t last, float from, float height, ImU32 color,
                        const std::string& text) {
    const float x0 = plot.min.x + static_cast<float>(first);
    const float x1 = plot.min.x + static_cast<float>(last) - (last - first > 3 ? 1 : 0);
    list.AddRectFilled({x0, from}, {x1, from + height}, color);
    const ImVec2 size = TextSize(l.fonts.small, text);
    if (size.x + Em(0.6f) > x1 - x0) return;
    DrawText(list, l.fonts.small, {x0 + Em(0.3f), from + (height - size.y) / 2}, l.colors.text, text);
  };
  for (const StepBand& step : picture.steps) {
    const std::string wide = fmt::format("step {}{}", step.step, step.deep ? " (deep)" : "");
    const bool fits =
        TextSize(l.fonts.small, wide).x + Em(0.6f) <= static_cast<float>(step.last - step.first);
    band(step.first, step.last, top, step_height, l.colors.raised, fits ? wide : std::to_string(step.step));
  }
  for (const PhaseBand& phase : picture.phases) {
    band(phase.first, phase.last, phase_top, phase_height, ColorOf(phase.phase),
         timeline::PhaseName(phase.phase));
  }
}

void DrawMarks(ImDrawList& list, const Plot& plot, App& app, const DeviceView& device) {
  const Look& l = look();
  const model::Run& run = *app.session.document()->run;
  for (const TimelineMark& mark : device.marks) {
    const float x =
        std::round(plot.X(app.session.place.window, static_cast<double>(run.times.TimeOf(mark.event))));
    if (x < plot.min.x || x > plot.max.x) continue;
    const bool bad = mark.kind == TimelineMark::Kind::kOutOfMemory;
    const ImU32 color = bad                                      ? l.colors.bad
                        : mark.kind == TimelineMark::Kind::kPeak ? l.colors.text
                                                                 : l.colors.accent;
    const float y = plot.min.y;
    list.AddTriangleFilled({x - Em(0.35f), y - Em(0.4f)}, {x + Em(0.35f), y - Em(0.4f)}, {x, y + Em(0.15f)},
                           color);
    const float near = Em(0.5f);
    if (ImGui::IsMouseHoveringRect({x - near, y - near}, {x + near, y + near}))
      ImGui::SetTooltip("%s", mark.text.c_str());
  }
}

void ShowTooltip(const Session& session, const DeviceView& device, const TimelinePicture& picture,
                 size_t column) {
  const MemoryColumn& memory = picture.memory[column];
  const Document& document = *session.document();
  const timeline::Training& training = document.training(device);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  const timeline::Step* step = training.StepAt(memory.high_event);
  const timeline::Phase phase = timeline::PhaseOf(training.SpanAt(memory.high_event).part);
  std::string when = TimeText(*document.run, document.run->times.TimeOf(memory.high_event));
  if (step != nullptr) when += fmt::format(" · step {}", step->number);
  if (phase != timeline::Phase::kOther) when += fmt::format(" · {}", timeline::PhaseName(phase));
  ShowHeading(text::FormatBytes(memory.high) + " allocated");
  ImGui::TextDisabled("%s", when.c_str());
  if (memory.low != memory.high)
    ImGui::TextDisabled("down to %s in this pixel", text::FormatBytes(memory.low).c_str());
  const auto row = [&](ImU32 color, const char* name, uint64_t bytes) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + Em(0.7f), at.y + Em(0.9f)},
                                              color, 2);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1.1f));
    ImGui::TextUnformatted(name);
    ImGui::SameLine(Em(11));
    ImGui::PushFont(look().fonts.mono);
    ImGui::TextUnformatted(text::FormatBytes(bytes).c_str());
    ImGui::PopFont();
  };
  for (auto category = StackOrder().rbegin(); category != StackOrder().rend(); ++category) {
    const uint64_t bytes = memory.categories[static_cast<size_t>(*category)];
    if (bytes != 0 && (device.series.shown() & MaskOf(*category)) != 0)
      row(ColorOf(*category), classify::Info(*category).name, bytes);
  }
  if (const auto reserved = device.reserved.After(memory.high_event))
    row(look().colors.reserved, "Reserved", *reserved);
  if (const auto used = device.used.After(memory.high_event)) row(look().colors.used, "Device used", *used);
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace

void ShowTimeline(App& app, ImVec2 size) {
  Session& session = app.session;
  DeviceView& device = *session.device();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const size_t lanes = LaneRows(app, device, size.y);
  const float bands = Em(2.6f) + LaneHeight(lanes);
  Plot plot;
  plot.min = {std::floor(at.x + Em(4.4f)), std::floor(at.y + Em(1.8f))};
  plot.max = {std::floor(at.x + size.x - Em(0.4f)), std::floor(at.y + size.y - bands - Em(0.3f))};
  plot.max.x = std::max(plot.max.x, plot.min.x + 16);
  plot.max.y = std::max(plot.max.y, plot.min.y + 16);
  const bool whole = device.series.shown() == kAllCategories;
  const uint64_t highest = whole
                               ? std::max({device.series.peak(), device.reserved.peak(), device.used.peak()})
                               : device.series.peak();
  plot.top = std::max<uint64_t>(highest + highest / 16, 1024);

  ImGui::InvisibleButton("timeline", {plot.max.x - at.x, size.y},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  app.Name("timeline", plot.min, plot.max);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool hovered =
      ImGui::IsItemHovered() && mouse.x >= plot.min.x && mouse.x < plot.max.x && mouse.y >= plot.min.y;
  const float lanes_top = plot.max.y + Em(0.3f) + Em(2.5f);
  const bool on_lanes = lanes != 0 && mouse.y >= lanes_top;
  NavigateTime(app, {plot.min.x, plot.max.x, hovered, ImGui::IsItemActive(), !on_lanes});

  const TimeView& view = session.place.window;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto columns = static_cast<size_t>(plot.max.x - plot.min.x);
  const TimelinePicture& picture = app.timeline.Get(*session.document(), device, view, columns);
  DrawGrid(list, plot, view, at.y);
  list.PushClipRect(plot.min, {plot.max.x, at.y + size.y}, true);
  DrawStack(list, plot, picture, device.series.shown());
  DrawVeil(list, plot, picture);
  if (whole) DrawStepLine(list, plot, picture.reserved, look().colors.reserved);
  if (whole) DrawStepLine(list, plot, picture.used, look().colors.used);
  DrawBands(list, plot, picture, plot.max.y + Em(0.3f));
  if (const auto& range = session.place.range) {
    list.AddRectFilled({plot.X(view, range->begin_ns), plot.min.y}, {plot.X(view, range->end_ns), plot.max.y},
                       WithAlpha(look().colors.accent, 0.22f));
  }
  const float moment = std::round(plot.X(view, session.MomentTime()));
  list.AddRectFilled({moment, plot.min.y}, {moment + std::max(1.0f, look().scale), plot.max.y + bands},
                     look().colors.text);
  list.PopClipRect();
  list.PushClipRect({at.x, at.y}, {at.x + size.x, at.y + size.y}, true);
  DrawMarks(list, plot, app, device);
  DrawNotes(app, plot.min, plot.max);
  const bool on_range =
      ShowRangeLanes(app, device, lanes, {plot.min.x, lanes_top}, plot.max.x, hovered && on_lanes);
  list.PopClipRect();
  if (!app.hover_ns || ImGui::IsItemActive() || on_range || !plot.Holds(mouse)) return;
  const float x = ImGui::GetIO().MousePos.x;
  list.AddLine({x, plot.min.y}, {x, plot.max.y}, WithAlpha(look().colors.text, 0.4f));
  ShowTooltip(session, device, picture, std::min(columns - 1, static_cast<size_t>(x - plot.min.x)));
}

}  // namespace vramscope::viewer
