// SPDX-License-Identifier: Apache-2.0
// Growth from step to step: memory at the end of each step, and the places in the program that keep some of
// every step.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/growth/words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/named_table.h"

namespace vramscope::viewer {
namespace {

using leaks::Growth;
using leaks::StepBytes;

struct GrowthAxes {
  ImVec2 min, max;
  uint32_t first, last;  // steps
  double low, high;      // bytes

  [[nodiscard]] float X(double step) const {
    return min.x + (max.x - min.x) * static_cast<float>((step - first + 0.5) / (last - first + 1.0));
  }
  [[nodiscard]] float Y(double bytes) const {
    return max.y - (max.y - min.y) * static_cast<float>((bytes - low) / (high - low));
  }
};

// Memory at the end of every step, from 0 up; the judged steps have another background.
void ShowGrowthChart(App& app, const leaks::Answer& answer, float height) {
  ShowHeading("Allocated when a step ends", fmt::format("{} a step by a linear fit through steps {} to {}",
                                                        text::FormatSignedBytes(answer.bytes_per_step),
                                                        answer.first_judged, answer.last_judged));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  ImGui::InvisibleButton("growth", {width, height});
  app.NameLastItem("leaks.growth");
  const bool hovered = ImGui::IsItemHovered();
  uint64_t most = 1;
  for (const StepBytes& end : answer.ends) most = std::max(most, end.bytes);
  const float label = TextSize(look().fonts.small, "1,023.9 MiB").x + Em(0.5f);
  const GrowthAxes axes = {{at.x + label, at.y + Em(0.5f)},
                           {at.x + width, at.y + height - Em(1.3f)},
                           answer.ends.front().step,
                           answer.ends.back().step,
                           0,
                           static_cast<double>(most) * 1.04};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(axes.min, axes.max, look().colors.background);
  list.AddRectFilled({axes.X(answer.first_judged - 0.5), axes.min.y},
                     {axes.X(answer.last_judged + 0.5), axes.max.y}, WithAlpha(look().colors.raised, 0.6f));
  for (const uint64_t bytes : {uint64_t{0}, most / 2, most}) {
    const float y = axes.Y(static_cast<double>(bytes));
    list.AddLine({axes.min.x, y}, {axes.max.x, y}, look().colors.line);
    const std::string text = bytes == 0 ? "0 B" : text::FormatBytes(bytes);
    DrawText(list, look().fonts.small,
             {axes.min.x - Em(0.4f) - TextSize(look().fonts.small, text).x, y - Em(0.5f)}, look().colors.dim,
             text);
  }
  std::vector<ImVec2> points;
  for (const StepBytes& end : answer.ends)
    points.push_back({axes.X(end.step), axes.Y(static_cast<double>(end.bytes))});
  const ImU32 color = answer.leaks.empty() ? look().colors.accent : look().colors.warning;
  list.AddPolyline(points.data(), static_cast<int>(points.size()), color, Em(0.13f));
  if (points.size() <= 60) {
    for (const ImVec2& point : points) list.AddCircleFilled(point, Em(0.2f), color);
  }
  DrawText(list, look().fonts.small, {axes.min.x, axes.max.y + Em(0.2f)}, look().colors.dim,
           fmt::format("step {}", axes.first));
  const std::string last = fmt::format("step {}", axes.last);
  DrawText(list, look().fonts.small,
           {axes.max.x - TextSize(look().fonts.small, last).x, axes.max.y + Em(0.2f)}, look().colors.dim,
           last);
  if (!hovered || answer.ends.empty()) return;
  const auto nearest =
      std::min_element(answer.ends.begin(), answer.ends.end(), [&](const StepBytes& a, const StepBytes& b) {
        const float x = ImGui::GetIO().MousePos.x;
        return std::abs(axes.X(a.step) - x) < std::abs(axes.X(b.step) - x);
      });
  list.AddLine({axes.X(nearest->step), axes.min.y}, {axes.X(nearest->step), axes.max.y}, look().colors.dim);
  ImGui::SetTooltip(
      "step %u\n"
      "%s at the end of the step\n"
      "click: go to its peak",
      nearest->step, text::FormatBytes(nearest->bytes).c_str());
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left))
    (void)app.session.GoTo(fmt::format("step:{},peak", nearest->step));
}

// One bar for each step: how much of it is still there at the end.
void ShowKept(const leaks::Answer& answer, const Growth& growth, ImVec2 size) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::Dummy(size);
  uint64_t most = 1;
  for (const StepBytes& kept : growth.kept) most = std::max(most, kept.bytes);
  const GrowthAxes axes = {
      at, {at.x + size.x, at.y + size.y}, answer.ends.front().step, answer.ends.back().step,
      0,  static_cast<double>(most)};
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine({axes.min.x, axes.max.y}, {axes.max.x, axes.max.y}, look().colors.line);
  const float half = std::max(0.5f, (axes.X(1) - axes.X(0)) * 0.4f);
  for (const StepBytes& kept : growth.kept) {
    const float x = axes.X(kept.step);
    list.AddRectFilled({x - half, axes.Y(static_cast<double>(kept.bytes))}, {x + half, axes.max.y},
                       look().colors.warning);
  }
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("still live at the end, from steps %u to %u; at most %s from one step",
                      growth.first_step, growth.last_step, text::FormatBytes(most).c_str());
}

std::string GrowthPlace(const Growth& growth) {
  if (!growth.line.empty()) return text::OneLine(growth.line);
  if (!growth.module.empty()) return text::OneLine(growth.module);
  return growth.op.empty() ? "somewhere" : text::OneLine(growth.op);
}

std::string GrowthDetails(const Growth& growth) {
  std::string text;
  const auto add = [&](const std::string& part) {
    if (!part.empty()) text += (text.empty() ? "" : ", ") + part;
  };
  if (!growth.line.empty()) add(text::OneLine(growth.module));
  if (!growth.line.empty() || !growth.module.empty()) add(text::OneLine(growth.op));
  if (growth.phase != timeline::Phase::kOther) add(fmt::format("in {}", timeline::PhaseName(growth.phase)));
  add(growth.pinned_host ? "pinned host memory" : "");
  return text;
}

// Goes to the end of the last finished step, where memory that the program frees after a step still exists.
void ShowEndOfSteps(App& app, const leaks::Answer& answer) {
  Session& session = app.session;
  const timeline::Step* last =
      session.document()->training(*session.device()).StepNumber(answer.ends.back().step);
  if (last == nullptr) return;
  session.Remember();
  session.SetMoment(last->end - 1);
  session.place.window.Reveal(session.MomentTime());
}

void ShowGrowthName(App& app, const NamedTable& table, const leaks::Answer& answer, const Growth& growth,
                    const std::string& name) {
  const std::string more = GrowthDetails(growth);
  const std::string place = table.Fit(GrowthPlace(growth));
  const std::string details = table.Fit((more.empty() ? "" : more + ". ") + growth::KeeperText(growth));
  const float second = ImGui::CalcTextSize(place.c_str()).y + Em(0.15f);
  const ImVec2 size = {ImGui::GetContentRegionAvail().x,
                       second + ImGui::CalcTextSize(details.c_str()).y + Em(0.05f)};
  const std::string filter = FilterFor(growth);
  ImGui::PushID(name.c_str());
  const ImVec2 begin = ImGui::GetCursorPos();
  if (ImGui::Selectable("##row", false, ImGuiSelectableFlags_None, size)) {
    ShowEndOfSteps(app, answer);
    if (!filter.empty()) app.session.filter = filter;
  }
  app.NameLastItem(name);
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip(
        "%s\n%s in %s, of %s\n%s", GrowthPlace(growth).c_str(), text::FormatBytes(growth.bytes).c_str(),
        text::FormatCount(growth.blocks, "block").c_str(), text::FormatCount(growth.steps, "step").c_str(),
        filter.empty() ? "click: to the end of the last step"
                       : "click: go to the end of the last step, with these blocks in the table");
  ImGui::SetCursorPos(begin);
  ImGui::TextUnformatted(place.c_str());
  ImGui::SetCursorPos({begin.x, begin.y + second});
  ImGui::TextDisabled("%s", details.c_str());
  ImGui::PopID();
}

void ShowGrowthFigures(NamedTable& table, const leaks::Answer& answer, const Growth& growth) {
  PushFont(look().fonts.mono);
  table.NextFigure();
  ImGui::TextUnformatted(text::FormatBytes(growth.bytes_per_step).c_str());
  table.NextFigure();
  ImGui::TextUnformatted(text::FormatBytes(growth.bytes).c_str());
  ImGui::PopFont();
  table.NextFigure();
  ShowKept(answer, growth, {ImGui::GetContentRegionAvail().x, Em(1.9f)});
}

void ShowGrowthRows(App& app, const leaks::Answer& answer, const std::vector<Growth>& rows, const char* kind,
                    float height) {
  NamedTable table;
  if (!table.Begin(kind,
                   {{"A step", 5}, {"At the end", 5.2f}, {"From which steps", 11}, {"Allocated at", 14}}, 3,
                   ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY, {0, height}))
    return;
  for (size_t i = 0; i < rows.size(); ++i) {
    table.NextName();
    ShowGrowthName(app, table, answer, rows[i], fmt::format("leaks.{}.{}", kind, i));
    ShowGrowthFigures(table, answer, rows[i]);
  }
  table.End();
}

}  // namespace

void ShowLeaks(App& app, ImVec2 size) {
  app.leaks.Update(*app.session.document(), *app.session.device(), app.session.wake());
  app.WaitFor(app.leaks.busy());
  const auto& found = app.leaks.answer();
  if (!found) return ShowWhyEmpty(size, "Looking for what grows from step to step ...");
  if (!found->ok())
    return ShowWhyEmpty(size, "Growth cannot be judged here. " + text::OneLine(found->error().sentence));
  const leaks::Answer& answer = found->value();
  ImGui::BeginChild("leaks_view", size);
  ShowHeading(LeaksHeadline(answer));
  ShowGrowthChart(app, answer, std::clamp(size.y * 0.36f, Em(6), Em(15)));
  if (!answer.has_stacks && !answer.leaks.empty())
    ShowNote("Lines of code were not recorded. Record again with --stacks python.");
  if (!answer.leaks.empty()) {
    const float height = answer.settled.empty() ? 0 : ImGui::GetContentRegionAvail().y * 0.6f;
    ShowGrowthRows(app, answer, answer.leaks, "growing", height);
  }
  if (!answer.settled.empty()) {
    ImGui::Dummy({0, Em(0.2f)});
    ShowHeading("Growth that has stopped: warm-up and caches");
    ShowGrowthRows(app, answer, answer.settled, "settled", 0);
  } else if (answer.leaks.empty()) {
    ShowNote(fmt::format(
        "Everything that {} allocate is freed by the end of the last step, except one-time allocations.",
        text::FormatCount(answer.steps, "step")));
  }
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
