// SPDX-License-Identifier: Apache-2.0
// The part of the fragmentation view about the whole run: reserved memory over time by cause, and what the
// same requests would have reserved under other settings.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/fragmentation/cause.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

using fragmentation::SeriesPoint;

void ShowCauseTip(const SeriesPoint& point) {
  std::string text = fmt::format("{} reserved\n{} requested", text::FormatBytes(point.reserved),
                                 text::FormatBytes(point.requested));
  for (const fragmentation::Cause& cause : fragmentation::kCauses) {
    if (const uint64_t bytes = point.causes.*cause.bytes; bytes != 0)
      text += fmt::format("\n{} {}", text::FormatBytes(bytes), cause.name);
  }
  text += fmt::format("\nlargest free block {}, external fragmentation {:.0f} %",
                      text::FormatBytes(point.largest_free), 100 * point.external);
  ImGui::SetTooltip("%s", text.c_str());
}

void ShowCausesOverTime(App& app, const std::vector<SeriesPoint>& points, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::InvisibleButton("causes", size);
  app.NameLastItem("fragmentation.series");
  const bool hovered = ImGui::IsItemHovered();
  const TimeView& view = app.session.place.window;
  const float label = TextSize(look().fonts.small, "1,023.9 MiB").x + Em(0.5f);
  const ImVec2 min = {std::floor(at.x + label), std::floor(at.y + Em(0.4f))};
  const ImVec2 max = {std::floor(at.x + size.x), std::floor(at.y + size.y - Em(0.4f))};
  if (max.x - min.x < Em(3) || max.y - min.y < Em(1)) return;
  const auto drawn = ColumnsOf(points, view, static_cast<size_t>(max.x - min.x));
  uint64_t most = 1;
  for (const SeriesPoint* point : drawn) most = std::max(most, point == nullptr ? 0 : point->reserved);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(min, max, look().colors.background);
  const auto y_of = [&](uint64_t bytes) {
    return max.y -
           (max.y - min.y) * static_cast<float>(static_cast<double>(bytes) / static_cast<double>(most));
  };
  for (const uint64_t bytes : {uint64_t{0}, most}) {
    const std::string text = bytes == 0 ? "0 B" : text::FormatBytes(bytes);
    DrawText(list, look().fonts.small,
             {min.x - Em(0.4f) - TextSize(look().fonts.small, text).x, y_of(bytes) - Em(0.5f)},
             look().colors.dim, text);
    list.AddLine({min.x, y_of(bytes)}, {max.x, y_of(bytes)}, look().colors.line);
  }
  for (size_t i = 0; i < drawn.size(); ++i) {
    if (drawn[i] == nullptr) continue;
    const float x = min.x + static_cast<float>(i);
    uint64_t below = drawn[i]->requested;
    list.AddRectFilled({x, y_of(below)}, {x + 1, max.y}, WithAlpha(look().colors.accent, 0.55f));
    for (const fragmentation::Cause& cause : fragmentation::kCauses) {
      const uint64_t bytes = drawn[i]->causes.*cause.bytes;
      if (bytes == 0) continue;
      list.AddRectFilled({x, y_of(below + bytes)}, {x + 1, y_of(below)}, FromRgb(cause.rgb));
      below += bytes;
    }
  }
  const auto x_of = [&](double time) {
    return min.x + (max.x - min.x) * static_cast<float>(view.PlaceOf(time));
  };
  const float moment = x_of(app.session.MomentTime());
  if (moment >= min.x && moment <= max.x) list.AddLine({moment, min.y}, {moment, max.y}, look().colors.text);
  const float mouse = ImGui::GetIO().MousePos.x;
  if (!hovered || mouse < min.x || mouse >= max.x) return;
  if (const SeriesPoint* point = drawn[static_cast<size_t>(mouse - min.x)]; point != nullptr)
    ShowCauseTip(*point);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left))
    app.session.SetMomentAt(view.TimeAt(static_cast<double>((mouse - min.x) / (max.x - min.x))));
}

void ShowOutcomes(App& app, const std::vector<SettingsOutcome>& outcomes) {
  ShowHeading("The same requests with other settings");
  uint64_t most = 1;
  for (const SettingsOutcome& outcome : outcomes) most = std::max(most, outcome.peak_reserved);
  constexpr size_t kRerun = 1;  // of the recorded settings
  const uint64_t rerun = outcomes.size() > kRerun ? outcomes[kRerun].peak_reserved : 0;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const SettingsOutcome& outcome = outcomes[i];
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::Dummy({width, Em(1.2f)});
    app.NameLastItem(fmt::format("fragmentation.settings.{}", i));
    const std::string name = outcome.recorded           ? "as recorded"
                             : i == kRerun              ? "rerun, same settings"
                             : outcome.settings.empty() ? "all defaults"
                                                        : text::OneLine(outcome.settings);
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip(
          "%s\n%s", outcome.settings.empty() ? "all defaults" : text::OneLine(outcome.settings).c_str(),
          !outcome.refused.empty() ? text::OneLine(outcome.refused).c_str()
          : outcome.recorded       ? "peak reserved, as recorded in the file"
                                   : "peak reserved on the model of the allocator, which starts empty");
    ImDrawList& list = *ImGui::GetWindowDrawList();
    const float text_width = std::min(Em(12.5f), width * 0.5f);
    DrawText(list, look().fonts.text, at, look().colors.text, FitText(look().fonts.text, name, text_width));
    const float left = at.x + text_width + Em(0.5f);
    if (!outcome.refused.empty()) {
      DrawText(list, look().fonts.text, {left, at.y}, look().colors.dim,
               FitText(look().fonts.text, text::OneLine(outcome.refused), width - text_width - Em(0.5f)));
      continue;
    }
    std::string figure = text::FormatBytes(outcome.peak_reserved);
    if (i > kRerun && rerun != 0 && outcome.peak_reserved != rerun)
      figure += fmt::format(
          " {:+.0f} %", 100 * (static_cast<double>(outcome.peak_reserved) / static_cast<double>(rerun) - 1));
    const float room = std::max(0.0f, width - text_width - Em(9.5f));
    const float bar =
        room * static_cast<float>(static_cast<double>(outcome.peak_reserved) / static_cast<double>(most));
    list.AddRectFilled({left, at.y + Em(0.25f)}, {left + bar, at.y + Em(0.85f)},
                       outcome.recorded ? look().colors.dim : look().colors.accent, 2);
    DrawText(list, look().fonts.mono, {left + bar + Em(0.4f), at.y + Em(0.06f)}, look().colors.text, figure);
  }
}

}  // namespace

void ShowFragmentationHistory(App& app, const LayoutView& layout, ImVec2 size) {
  app.fragmentation_history.Update(layout, app.session.wake());
  app.WaitFor(app.fragmentation_history.busy());
  const auto& made = app.fragmentation_history.over_time();
  if (!made) return ShowWhyEmpty(size, "Measuring the whole run, and replaying it with other settings ...");
  const TwoParts parts = SplitView(size, size.x * 0.6f, 0);
  BeginPart("over_time", parts.first);
  ShowHeading("Reserved memory over time, by cause");
  ShowCausesOverTime(app, made->points,
                     {parts.first.x, parts.beside ? ImGui::GetContentRegionAvail().y : Em(9)});
  ImGui::EndChild();
  if (parts.beside) ImGui::SameLine(0, Em(1));
  BeginPart("outcomes", parts.second);
  ShowOutcomes(app, made->outcomes);
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
