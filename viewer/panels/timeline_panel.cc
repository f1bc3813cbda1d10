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

void DrawGrid(ImDrawList& list, const MemoryPlot& plot, const TimeView& view, float axis_top) {
  const Look& l = look();
  const int rows = std::max(2, static_cast<int>((plot.max.y - plot.min.y) / Em(2)));
  const MemoryAxis& axis = plot.axis;
  for (const ByteTick& tick :
       ByteTicks(static_cast<uint64_t>(axis.low), static_cast<uint64_t>(axis.high), rows)) {
    const float y = std::round(plot.Y(static_cast<double>(tick.bytes))) + 0.5f;
    list.AddLine({plot.min.x, y}, {plot.max.x, y}, WithAlpha(l.colors.line, 0.6f));
    const ImVec2 size = TextSize(l.fonts.small, tick.text);
    if (y - size.y / 2 < axis_top + Em(1)) continue;
    DrawText(list, l.fonts.small, {plot.min.x - size.x - Em(0.5f), y - size.y / 2}, l.colors.dim, tick.text);
  }
  DrawTimeAxis(list, plot.min, plot.max, view, axis_top);
}

// Bands of one category; neighboring columns of equal height become one rectangle.
void DrawStack(ImDrawList& list, const MemoryPlot& plot, const TimelinePicture& picture, CategoryMask shown) {
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

// The same by line of code.
void DrawLineStack(ImDrawList& list, const MemoryPlot& plot, App& app, const TimelinePicture& picture) {
  const auto& columns = app.lines.Columns(picture, app.session.place.window);
  std::vector<float> below(columns.size(), plot.max.y);
  std::vector<uint64_t> sums(columns.size(), 0);
  for (size_t band = 0; band < LineBands::kCount; ++band) {
    const ImU32 color = FromRgb(app.lines.bands()->bands()[band].rgb);
    for (size_t first = 0; first < columns.size();) {
      size_t end = first;
      const float bottom = below[first];
      float top = bottom;
      for (; end < columns.size() && below[end] == bottom; ++end) {
        const float y = std::round(plot.Y(static_cast<double>(sums[end] + columns[end][band])));
        if (end != first && y != top) break;
        sums[end] += columns[end][band];
        top = y;
        below[end] = y;
      }
      if (top < bottom)
        list.AddRectFilled({plot.min.x + static_cast<float>(first), top},
                           {plot.min.x + static_cast<float>(end), bottom}, color);
      first = end;
    }
  }
}

// Where the memory changes within a column, the part above the minimum is veiled.
void DrawVeil(ImDrawList& list, const MemoryPlot& plot, const TimelinePicture& picture) {
  const ImU32 color = WithAlpha(look().colors.panel, 0.32f);
  for (size_t i = 0; i < picture.memory.size(); ++i) {
    const float top = std::round(plot.Y(static_cast<double>(picture.memory[i].high)));
    const float bottom = std::round(plot.Y(static_cast<double>(picture.memory[i].low)));
    const float x = plot.min.x + static_cast<float>(i);
    if (bottom - top >= 2) list.AddRectFilled({x, top + 1}, {x + 1, bottom}, color);
  }
}

void DrawBands(ImDrawList& list, const MemoryPlot& plot, const TimelinePicture& picture, float top) {
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
        TextSize(l.fonts.small, wide).x + Em(0.6f) <= static_cast<float>(step.last - step.first) - 1;
    band(step.first, step.last, top, step_height, l.colors.raised, fits ? wide : std::to_string(step.step));
  }
  for (const PhaseBand& phase : picture.phases) {
    band(phase.first, phase.last, phase_top, phase_height, ColorOf(phase.phase),
         timeline::PhaseName(phase.phase));
  }
}

// The lifetime of the selected block, at the lower edge of the plot.
void DrawLife(ImDrawList& list, const MemoryPlot& plot, const Session& session) {
  if (session.place.block == model::kNone) return;
  const model::Run& run = *session.document()->run;
  const model::Block& block = run.blocks[session.place.block];
  const auto begin = static_cast<double>(run.times.TimeOf(block.alloc_event));
  const auto end = static_cast<double>(run.times.TimeOf(std::min(block.free_event, run.event_count() - 1)));
  const float height = Em(0.4f);
  const ImVec2 min = {std::max(plot.X(session.place.window, begin), plot.min.x - 1), plot.max.y - height};
  const ImVec2 max = {std::min(std::max(plot.X(session.place.window, end), min.x + 2), plot.max.x + 1),
                      plot.max.y};
  if (min.x > plot.max.x || max.x < plot.min.x) return;
  const classify::Category category =
      session.document()->analysis->categories().At(session.place.block, block.alloc_event).category;
  list.AddRectFilled(min, max, ColorOf(category));
  list.AddRect(min, max, look().colors.text);
}

void DrawMarks(ImDrawList& list, const MemoryPlot& plot, App& app, const DeviceView& device) {
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
                 size_t column, double time_ns) {
  const MemoryColumn& memory = picture.memory[column];
  const Document& document = *session.document();
  const timeline::Training& training = document.training(device);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.7f), Em(0.5f)});
  ImGui::BeginTooltip();
  const timeline::Step* step = training.StepAt(memory.high_event);
  const timeline::Phase phase = timeline::PhaseOf(training.SpanAt(memory.high_event).part);
  std::string when = TimeText(*document.run, static_cast<uint64_t>(time_ns));
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
    PushFont(look().fonts.mono);
    ImGui::TextUnformatted(text::FormatBytes(bytes).c_str());
    ImGui::PopFont();
  };
  for (auto category = StackOrder().rbegin(); category != StackOrder().rend(); ++category) {
    const uint64_t bytes = memory.categories[static_cast<size_t>(*category)];
    if (bytes != 0 && (device.series.shown() & MaskOf(*category)) != 0)
      row(ColorOf(*category), document.WordsOf(*category).name, bytes);
  }
  const auto line = [&](MemoryLine which, const std::optional<uint64_t>& bytes) {
    if (bytes) row(ColorOf(which), Info(which).name, *bytes);
  };
  line(MemoryLine::kReserved, device.reserved.After(memory.high_event));
  line(MemoryLine::kUsed, device.used.After(memory.high_event));
  line(MemoryLine::kCapacity, device.capacity);
  ImGui::EndTooltip();
  ImGui::PopStyleVar();
}

}  // namespace

void ShowTimeline(App& app, ImVec2 size) {
  Session& session = app.session;
  ImVec2 at = ImGui::GetCursorScreenPos();
  const float strips = ShowRankStrips(app, size);
  at.y += strips;
  size.y -= strips;
  ImGui::SetCursorScreenPos(at);
  DeviceView& device = *session.device();
  const size_t lanes = LaneRows(app, device, size.y);
  const float bands = Em(2.6f) + LaneHeight(lanes);
  MemoryPlot plot;
  plot.min = {std::floor(at.x + Em(4.4f)), std::floor(at.y + Em(1.8f))};
  plot.max = {std::floor(at.x + size.x - Em(0.4f)), std::floor(at.y + size.y - bands - Em(0.3f))};
  plot.max.x = std::max(plot.max.x, plot.min.x + 16);
  plot.max.y = std::max(plot.max.y, plot.min.y + 16);
  const float bands_top = plot.max.y + Em(0.3f);
  ShowAxisChoice(app, {at.x, bands_top}, {plot.min.x - at.x - Em(0.4f), Em(1.3f)});
  ImGui::SetCursorScreenPos({plot.min.x, at.y});
  ImGui::InvisibleButton("timeline", {plot.max.x - plot.min.x, size.y},
                         ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight |
                             ImGuiButtonFlags_MouseButtonMiddle);
  app.Name("timeline", plot.min, plot.max);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool active = ImGui::IsItemActive();
  const bool hovered =
      ImGui::IsItemHovered() && mouse.x >= plot.min.x && mouse.x < plot.max.x && mouse.y >= plot.min.y;
  const float lanes_top = bands_top + Em(2.5f);
  const bool on_lanes = lanes != 0 && mouse.y >= lanes_top;
  const bool on_label = HandleLineLabels(app, hovered && !app.drag_from_ns);
  NavigateTime(app, {plot.min.x, plot.max.x, hovered, active, !on_lanes && !on_label});
  if (hovered && plot.Holds(mouse)) ZoomMemory(app, plot);

  const TimeView& view = session.place.window;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto columns = static_cast<size_t>(plot.max.x - plot.min.x);
  const TimelinePicture& picture = app.timeline.Get(*session.document(), device, view, columns);
  const bool whole = device.series.shown() == kAllCategories;
  plot.axis = AxisFor(picture, device.capacity, session.lines, whole, session.place.memory);
  DrawGrid(list, plot, view, at.y);
  list.PushClipRect(plot.min, plot.max, true);
  const bool by_line = whole && session.coloring == Coloring::kStack;
  if (by_line) {
    app.lines.Update(*session.document(), device, session.wake());
    app.WaitFor(app.lines.busy(), Waits::kPicture);
  }
  if (by_line && app.lines.bands())
    DrawLineStack(list, plot, app, picture);
  else
    DrawStack(list, plot, picture, device.series.shown());
  DrawVeil(list, plot, picture);
  if (whole) DrawMemoryLines(app, plot, picture);
  DrawLife(list, plot, session);
  list.PopClipRect();
  list.PushClipRect(plot.min, {plot.max.x, at.y + size.y}, true);
  DrawBands(list, plot, picture, bands_top);
  if (const auto& range = session.place.range) {
    list.AddRectFilled({plot.X(view, range->begin_ns), plot.min.y}, {plot.X(view, range->end_ns), plot.max.y},
                       WithAlpha(look().colors.accent, 0.22f));
  }
  const float moment = std::round(plot.X(view, session.MomentTime()));
  list.AddRectFilled({moment, plot.min.y}, {moment + std::max(1.0f, look().scale), plot.max.y + bands},
                     look().colors.text);
  app.line_labels.clear();
  if (whole) DrawLineLabels(app, plot, picture);
  list.PopClipRect();
  list.PushClipRect({at.x, at.y}, {at.x + size.x, at.y + size.y}, true);
  DrawMarks(list, plot, app, device);
  DrawNotes(app, plot.min, plot.max);
  const bool on_range =
      ShowRangeLanes(app, device, lanes, {plot.min.x, lanes_top}, plot.max.x, hovered && on_lanes);
  list.PopClipRect();
  if (!app.hover_ns || active || on_range || on_label || !plot.Holds(mouse)) return;
  list.AddLine({mouse.x, plot.min.y}, {mouse.x, plot.max.y}, WithAlpha(look().colors.text, 0.4f));
  ShowTooltip(session, device, picture, std::min(columns - 1, static_cast<size_t>(mouse.x - plot.min.x)),
              std::max(*app.hover_ns, 0.0));
}

}  // namespace vramscope::viewer
