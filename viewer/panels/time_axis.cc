// SPDX-License-Identifier: Apache-2.0
// Parts that all views over time share: the axis, and the mouse on the visible stretch of time.
#include <algorithm>
#include <cmath>

#include "viewer/panels/app.h"

namespace vramscope::viewer {

void DrawTimeAxis(ImDrawList& list, ImVec2 min, ImVec2 max, const TimeView& view, float axis_top) {
  const Look& l = look();
  float free_from = min.x;
  for (const TimeTick& tick : TimeTicks(view, static_cast<int>((max.x - min.x) / Em(6)))) {
    const float x =
        std::round(min.x + static_cast<float>(view.PlaceOf(tick.time_ns)) * (max.x - min.x)) + 0.5f;
    list.AddLine({x, min.y}, {x, max.y}, WithAlpha(l.colors.line, 0.6f));
    const ImVec2 size = TextSize(l.fonts.small, tick.text);
    if (x + Em(0.3f) < free_from || x + Em(0.3f) + size.x > max.x) continue;
    DrawText(list, l.fonts.small, {x + Em(0.3f), axis_top}, l.colors.dim, tick.text);
    free_from = x + size.x + Em(1);
  }
}

void NavigateTime(App& app, const TimeMouse& mouse) {
  Session& session = app.session;
  TimeView& view = session.place.window;
  const ImGuiIO& io = ImGui::GetIO();
  const float width = mouse.right - mouse.left;
  const double mouse_ns = view.TimeAt((io.MousePos.x - mouse.left) / width);
  app.hover_ns.reset();
  if (mouse.hovered) {
    app.hover_ns = mouse_ns;
    if (io.MouseWheel != 0 && !io.KeyShift && !io.KeyCtrl) view.Zoom(std::pow(1.25, io.MouseWheel), mouse_ns);
    const float sideways = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
    if (sideways != 0) view.PanBy(-0.1 * sideways);
    if (ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
      session.place.moment = app.moment_before_click;  // the first of the two clicks moved it
      session.Remember();
      view.Fit();
      session.place.range.reset();
      app.drag_from_ns.reset();
      return;
    }
  }
  const bool panning =
      ImGui::IsMouseDragging(ImGuiMouseButton_Right) || ImGui::IsMouseDragging(ImGuiMouseButton_Middle);
  if (mouse.active && panning) view.PanBy(-io.MouseDelta.x / width);
  // The edges of the range can be moved: the other one is where the drag began.
  std::optional<double> other_edge;
  if (const auto& range = session.place.range; range && mouse.hovered && mouse.selects && !app.drag_from_ns) {
    const auto near = [&](double edge_ns) {
      const float x = mouse.left + static_cast<float>(view.PlaceOf(edge_ns)) * width;
      return std::abs(x - io.MousePos.x) < Em(0.35f);
    };
    if (near(range->end_ns))
      other_edge = range->begin_ns;
    else if (near(range->begin_ns))
      other_edge = range->end_ns;
    if (other_edge) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }
  if (ImGui::IsItemActivated() && io.MouseDown[0] && mouse.selects) {
    app.drags_edge = other_edge.has_value();
    app.drag_from_ns = other_edge.value_or(mouse_ns);
  }
  if (mouse.active && app.drag_from_ns && ImGui::IsMouseDragging(ImGuiMouseButton_Left, Em(0.3f))) {
    session.place.range =
        TimeRange{std::min(*app.drag_from_ns, mouse_ns), std::max(*app.drag_from_ns, mouse_ns)};
  }
  if (ImGui::IsItemDeactivated() && app.drag_from_ns) {
    const bool still = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0).x == 0;
    const bool clicked = !app.drags_edge && (!session.place.range || still);
    if (clicked) session.place.range.reset();
    if (clicked) app.moment_before_click = session.place.moment;
    if (clicked) session.SetMomentAt(*app.drag_from_ns);
    app.drag_from_ns.reset();
  }
}

}  // namespace vramscope::viewer
