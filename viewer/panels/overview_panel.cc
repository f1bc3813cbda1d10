// SPDX-License-Identifier: Apache-2.0
// The whole run as a strip under every view: the visible part, and the moment. A drag moves the part, or the
// moment if Shift is held.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/panels/app.h"

namespace vramscope::viewer {

namespace {

// Shows play or pause, and the speed, in the margin under the axis.
void ShowPlayback(App& app, ImVec2 at, float height) {
  Session& session = app.session;
  const Look& l = look();
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 after = ImGui::GetCursorScreenPos();
  const float side = Em(1.9f);
  ImGui::SetCursorScreenPos({at.x, at.y + Em(0.2f)});
  if (ImGui::InvisibleButton("play", {side, height - Em(0.4f)}))
    session.playing() ? session.Pause() : session.Play();
  app.NameLastItem("play");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("Play, or pause (space)");
  const ImU32 color = ImGui::IsItemHovered() ? l.colors.text : l.colors.dim;
  const ImVec2 middle = {at.x + side / 2, at.y + height / 2};
  const float half = Em(0.5f);
  if (session.playing()) {
    list.AddRectFilled({middle.x - half, middle.y - half}, {middle.x - half * 0.3f, middle.y + half}, color);
    list.AddRectFilled({middle.x + half * 0.3f, middle.y - half}, {middle.x + half, middle.y + half}, color);
  } else {
    list.AddTriangleFilled({middle.x - half * 0.7f, middle.y - half}, {middle.x + half, middle.y},
                           {middle.x - half * 0.7f, middle.y + half}, color);
  }
  ImGui::SetCursorScreenPos({at.x + side, at.y + Em(0.2f)});
  if (ImGui::InvisibleButton("speed", {Em(2.3f), height - Em(0.4f)}))
    session.ChangeSpeed(session.speed() >= 1000 ? -6 : 1);
  app.NameLastItem("speed");
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Playback speed: seconds of the run per second. Click for ten times faster.");
  const std::string speed = fmt::format("{:g}x", session.speed());
  const ImVec2 extent = TextSize(l.fonts.small, speed);
  DrawText(list, l.fonts.small, {at.x + side, at.y + (height - extent.y) / 2}, l.colors.dim, speed);
  ImGui::SetCursorScreenPos(after);
}

}  // namespace

void ShowOverview(App& app, ImVec2 size) {
  Session& session = app.session;
  const DeviceView& device = *session.device();
  TimeView& view = session.place.window;
  TimeView all = view;
  all.Fit();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 min = {std::floor(at.x + Em(4.4f)), std::floor(at.y + Em(0.2f))};
  const ImVec2 max = {std::floor(at.x + size.x - Em(0.4f)), std::floor(at.y + size.y - Em(0.2f))};
  if (max.x - min.x < 16) return;

  ShowPlayback(app, at, size.y);
  ImGui::SetCursorScreenPos({min.x, at.y});
  ImGui::InvisibleButton("overview", {max.x - min.x, size.y});
  app.Name("overview", min, max);
  const ImGuiIO& io = ImGui::GetIO();
  const double mouse_ns = all.TimeAt(std::clamp<double>((io.MousePos.x - min.x) / (max.x - min.x), 0, 1));
  if (ImGui::IsItemActivated()) {
    session.Remember();
    // A click outside the shown part moves it here.
    if (!io.KeyShift && (mouse_ns < view.begin() || mouse_ns > view.end()))
      view.PanBy(view.PlaceOf(mouse_ns) - 0.5);
  }
  if (ImGui::IsItemActive() && (io.KeyShift || view.all())) {
    session.SetMomentAt(mouse_ns);
  } else if (ImGui::IsItemActive()) {
    const double width = std::max(all.PlaceOf(view.end()) - all.PlaceOf(view.begin()), 1e-9);
    view.PanBy(io.MouseDelta.x / (max.x - min.x) / width);
  }
  if (ImGui::IsItemHovered() && io.MouseWheel != 0) view.Zoom(std::pow(1.25, io.MouseWheel), mouse_ns);

  ImDrawList& list = *ImGui::GetWindowDrawList();
  const auto columns = static_cast<size_t>(max.x - min.x);
  const TimelinePicture& picture = app.overview.Get(*session.document(), device, all, columns);
  const auto top = static_cast<double>(std::max<uint64_t>(device.series.peak(), 1));
  const auto x_of = [&](double time_ns) {
    return std::round(min.x + static_cast<float>(all.PlaceOf(time_ns)) * (max.x - min.x));
  };
  list.AddRectFilled(min, max, look().colors.background, 2);
  const ImU32 fill = WithAlpha(look().colors.accent, 0.55f);
  for (size_t i = 0; i < columns; ++i) {
    const float y =
        max.y - static_cast<float>(static_cast<double>(picture.memory[i].high) / top) * (max.y - min.y - 2);
    const float x = min.x + static_cast<float>(i);
    list.AddRectFilled({x, std::round(y)}, {x + 1, max.y}, fill);
  }
  if (!view.all()) {
    const float left = x_of(view.begin());
    const float right = std::max(x_of(view.end()), left + 2);
    const ImU32 veil = WithAlpha(look().colors.panel, 0.5f);
    list.AddRectFilled(min, {left, max.y}, veil);
    list.AddRectFilled({right, min.y}, max, veil);
    list.AddRect({left, min.y}, {right, max.y}, look().colors.accent);
  }
  const float moment = x_of(session.MomentTime());
  list.AddRectFilled({moment, min.y}, {moment + std::max(1.0f, look().scale), max.y}, look().colors.text);
}

}  // namespace vramscope::viewer
