// SPDX-License-Identifier: Apache-2.0
// The memory that the program would need with the chosen changes. Figures with their error, the step before
// and after, the new peak's owners, the time, and the code.
#include "viewer/panels/whatif_panel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"

namespace vramscope::viewer {
namespace {

using whatif::Prediction;
using whatif::UseOverStep;

constexpr float kFigures = 23.5f;  // the width of a figure's name, values and change, in Em

std::string ChangeText(uint64_t before, uint64_t after) {
  return before == 0 ? "no change" : text::FormatChange(before, after);
}

ImU32 ChangeColor(uint64_t before, uint64_t after) {
  return before == after ? look().colors.dim : after < before ? look().colors.accent : look().colors.warning;
}

// "Peak reserved   41.2 GiB  →  28.7 GiB   -30.2 %   28.1 to 29.4 GiB in 99 of 100 runs"; in a narrow view on
// two or three lines.
void ShowFigure(const char* name, uint64_t before, uint64_t after, uint64_t least, uint64_t most, bool band) {
  const float room = ImGui::GetContentRegionAvail().x;
  const bool one_line = room > Em(kFigures);
  // Below the name, the figures begin at the left: at an indent, if there is room for it.
  const float left =
      ImGui::GetCursorPosX() - (one_line ? 0 : std::clamp(Em(kFigures) - room, Em(6), Em(7.2f)));
  ImGui::TextUnformatted(name);
  if (!one_line) ImGui::Dummy({0, ImGui::GetTextLineHeight()});
  const auto mono = [&](float column, const std::string& text, ImU32 color) {
    ImGui::SameLine(left + Em(column) - TextSize(look().fonts.mono, text).x);
    PushFont(look().fonts.mono);
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    ImGui::TextUnformatted(text.c_str());
    ImGui::PopStyleColor();
    ImGui::PopFont();
  };
  mono(12, text::FormatBytes(before), look().colors.dim);
  ImGui::SameLine(left + Em(12.5f));
  ImGui::TextDisabled("to");
  mono(18.5f, text::FormatBytes(after), look().colors.text);
  mono(kFigures, ChangeText(before, after), ChangeColor(before, after));
  if (!band) return;
  const std::string text =
      fmt::format("{} to {} in 99 of 100 runs", text::FormatBytes(least), text::FormatBytes(most));
  StayOnLine(ImGui::CalcTextSize(text.c_str()).x, Em(1));
  ShowNote(text);
}

void ShowFigures(App& app, const WhatIfAnswer& answer) {
  const Prediction& prediction = answer.prediction;
  const whatif::Replayed& before = prediction.before.allocator;
  const whatif::Replayed& after = prediction.after.allocator;
  const whatif::ErrorBand& band = prediction.band;
  // A figure that PyTorch counted itself needs no error.
  const bool changed = prediction.levers.size() > answer.rerun_levers;
  ImGui::BeginGroup();
  ShowFigure("Peak allocated", before.allocated_peak, after.allocated_peak,
             band.AllocatedAtLeast(after.allocated_peak), band.AllocatedAtMost(after.allocated_peak),
             changed);
  ShowFigure("Peak reserved", before.reserved_peak, after.reserved_peak,
             band.ReservedAtLeast(after.reserved_peak), band.ReservedAtMost(after.reserved_peak), changed);
  ImGui::EndGroup();
  app.NameLastItem("whatif.figures");
  if (changed && ImGui::IsItemHovered()) {
    std::string text = "By the published errors of these changes (docs/accuracy.md).";
    for (const std::string& lever : band.not_measured)
      text += fmt::format(
          "\nNo errors are published for {} alone: the largest error of all changes was used.", lever);
    ImGui::SetTooltip("%s", text.c_str());
  }
}

// "Re-run: PyTorch ran the recorded program with --amp bf16 on a simulated rtx-4090."
std::string KindSentence(const WhatIfAnswer& answer) {
  if (answer.gpu.empty())
    return answer.kind == experiment::AnswerKind::kRecorded ? "Recorded: the step without changes."
                                                            : "Transformed: computed on the recorded step.";
  const std::vector<whatif::Asked> rerun(answer.asked.begin(),
                                         answer.asked.begin() + static_cast<ptrdiff_t>(answer.rerun_levers));
  const std::string ran = fmt::format("PyTorch ran the recorded program with {} on a simulated {}",
                                      experiment::OptionsText(rerun), answer.gpu);
  return answer.kind == experiment::AnswerKind::kRerun
             ? "Re-run: " + ran + "."
             : "Transformed: computed on the step of a re-run; " + ran + ".";
}

void ShowKind(App& app, const WhatIfAnswer& answer) {
  ShowNote(text::OneLine(KindSentence(answer)));
  app.NameLastItem("whatif.kind");
  ImGui::PushStyleColor(ImGuiCol_Text, look().colors.warning);
  for (const std::string& note : answer.notes) ShowWrapped("Note: " + text::OneLine(note) + ".");
  ImGui::PopStyleColor();
}

struct StepPlot {
  float left, right, top, bottom;
  int64_t whole;  // events
  double most;

  [[nodiscard]] float X(whatif::Position at) const {
    return left + (right - left) * static_cast<float>(at.event) / static_cast<float>(whole);
  }
  [[nodiscard]] float Y(uint64_t bytes) const {
    return bottom - (bottom - top) * static_cast<float>(static_cast<double>(bytes) / most);
  }
};

// The changed step as a stack of categories, in the timeline's order.
void DrawStepStack(ImDrawList& list, const StepPlot& plot, const std::vector<StepColumn>& columns) {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].most == nullptr) break;
    uint64_t below = 0;
    for (const classify::Category category : StackOrder()) {
      const uint64_t bytes = columns[i].most->categories[static_cast<size_t>(category)];
      if (bytes == 0) continue;
      const float x = plot.left + static_cast<float>(i);
      list.AddRectFilled({x, plot.Y(below + bytes)}, {x + 1, plot.Y(below)}, ColorOf(category));
      below += bytes;
    }
  }
}

enum class Curve : uint8_t { kAllocated, kReserved };

void DrawStepLine(ImDrawList& list, const StepPlot& plot, const std::vector<StepColumn>& columns, Curve curve,
                  ImU32 color, float width) {
  std::vector<ImVec2> points;
  points.reserve(columns.size());
  for (size_t i = 0; i < columns.size() && columns[i].most != nullptr; ++i) {
    const uint64_t bytes = curve == Curve::kAllocated ? columns[i].most->allocated : columns[i].reserved;
    points.push_back({plot.left + static_cast<float>(i) + 0.5f, plot.Y(bytes)});
  }
  list.AddPolyline(points.data(), static_cast<int>(points.size()), color, width);
}

void DrawStepPhases(ImDrawList& list, const StepPlot& plot, const UseOverStep& use, float y) {
  const auto band = [&](whatif::Position begin, whatif::Position end, timeline::Phase phase) {
    if (end <= begin) return;
    const ImVec2 min = {plot.X(begin), y};
    const ImVec2 max = {plot.X(end), y + Em(1.15f)};
    list.AddRectFilled(min, max, ColorOf(phase));
    const std::string name = timeline::PhaseName(phase);
    if (TextSize(look().fonts.small, name).x > max.x - min.x - Em(0.4f)) return;
    DrawText(list, look().fonts.small, {min.x + Em(0.3f), y + Em(0.12f)}, InkOn(ColorOf(phase)), name);
  };
  for (const whatif::Window& part : use.forward) band(part.begin, part.end, timeline::Phase::kForward);
  for (const whatif::Window& pass : use.backward) band(pass.begin, pass.end, timeline::Phase::kBackward);
  for (const whatif::Window& step : use.optimizer) band(step.begin, step.end, timeline::Phase::kOptimizer);
}

// On the line of the item before, if there is room.
void StepLegend(const char* text, ImU32 color) {
  StayOnLine(ImGui::CalcTextSize(text).x + Em(1.5f), Em(1));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.55f)}, {at.x + Em(1.2f), at.y + Em(0.67f)},
                                            color);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1.5f));
  ImGui::TextDisabled("%s", text);
}

void ShowPlotTip(const StepPlot& plot, const std::vector<StepColumn>& before,
                 const std::vector<StepColumn>& after) {
  const float x = ImGui::GetIO().MousePos.x;
  if (x < plot.left || x >= plot.right) return;
  const auto i = static_cast<size_t>(x - plot.left);
  ImGui::GetWindowDrawList()->AddLine({x, plot.top}, {x, plot.bottom}, look().colors.text);
  const auto line = [&](const char* name, const StepColumn& column) {
    if (column.most == nullptr) return fmt::format("{}  the step is over", name);
    return fmt::format("{}  {} allocated, {} reserved", name, text::FormatBytes(column.most->allocated),
                       text::FormatBytes(column.reserved));
  };
  ImGui::SetTooltip("%s\n%s", line("before", before[i]).c_str(), line("after", after[i]).c_str());
}

void ShowStep(App& app, const UseOverStep& before, const UseOverStep& after, float height) {
  ShowHeading("The step after the change, event by event");
  StepLegend("allocated before", look().colors.text);
  StepLegend("reserved after", look().colors.accent);
  StepLegend("reserved before", look().colors.dim);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  height -= ImGui::GetTextLineHeightWithSpacing();
  ImGui::InvisibleButton("step", {width, height});
  app.NameLastItem("whatif.step");
  const bool hovered = ImGui::IsItemHovered();
  uint64_t most = 1;
  for (const UseOverStep* use : {&before, &after}) {
    for (const whatif::UseAt& point : use->points) most = std::max({most, point.allocated, point.reserved});
  }
  const float label = TextSize(look().fonts.small, "1,023.9 MiB").x + Em(0.5f);
  const StepPlot plot = {at.x + label,
                         at.x + width,
                         at.y + Em(0.5f),
                         at.y + height - Em(1.3f),
                         std::max(before.length, after.length),
                         static_cast<double>(most) * 1.04};
  if (plot.right - plot.left < Em(4) || plot.whole <= 0) return;
  const auto columns = static_cast<size_t>(plot.right - plot.left);
  const std::vector<StepColumn> drawn_before = ColumnsOf(before, plot.whole, columns);
  const std::vector<StepColumn> drawn_after = ColumnsOf(after, plot.whole, columns);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled({plot.left, plot.top}, {plot.right, plot.bottom}, look().colors.background);
  for (const uint64_t bytes : {uint64_t{0}, most / 2, most}) {
    const float y = plot.Y(bytes);
    list.AddLine({plot.left, y}, {plot.right, y}, look().colors.line);
    const std::string text = bytes == 0 ? "0 B" : text::FormatBytes(bytes);
    DrawText(list, look().fonts.small,
             {plot.left - Em(0.4f) - TextSize(look().fonts.small, text).x, y - Em(0.5f)}, look().colors.dim,
             text);
  }
  DrawStepStack(list, plot, drawn_after);
  DrawStepLine(list, plot, drawn_before, Curve::kReserved, look().colors.dim, Em(0.1f));
  DrawStepLine(list, plot, drawn_after, Curve::kReserved, look().colors.accent, Em(0.12f));
  DrawStepLine(list, plot, drawn_before, Curve::kAllocated, look().colors.text, Em(0.12f));
  DrawStepPhases(list, plot, after, plot.bottom + Em(0.1f));
  if (hovered) ShowPlotTip(plot, drawn_before, drawn_after);
}

// Two bars for each category: before above, after below it.
void ShowCategories(const Prediction& prediction) {
  ShowHeading("At the peak",
              fmt::format("{}, then {}", prediction.before.peak.phase, prediction.after.peak.phase));
  uint64_t most = 1;
  for (const whatif::Use* use : {&prediction.before, &prediction.after}) {
    for (const uint64_t bytes : use->peak.categories) most = std::max(most, bytes);
  }
  for (const classify::Category category : StackOrder()) {
    const uint64_t before = prediction.before.peak.categories[static_cast<size_t>(category)];
    const uint64_t after = prediction.after.peak.categories[static_cast<size_t>(category)];
    if (before == 0 && after == 0) continue;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::Dummy({width, Em(1.15f)});
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("before %s\nafter %s", text::FormatBytes(before).c_str(),
                        text::FormatBytes(after).c_str());
    ImDrawList& list = *ImGui::GetWindowDrawList();
    DrawText(list, look().fonts.text, at, look().colors.text,
             FitText(look().fonts.text, classify::Info(category).name, Em(9)));
    const std::string size = text::FormatBytes(after);
    DrawText(list, look().fonts.mono,
             {at.x + Em(14.4f) - TextSize(look().fonts.mono, size).x, at.y + Em(0.08f)}, look().colors.text,
             size);
    const float left = at.x + Em(15);
    const float room = width - Em(15.2f);
    if (room < Em(1)) continue;
    const auto bar = [&](uint64_t bytes, float top, float bottom, ImU32 color) {
      if (bytes == 0) return;
      const float length =
          std::max(1.0f, room * static_cast<float>(static_cast<double>(bytes) / static_cast<double>(most)));
      list.AddRectFilled({left, at.y + Em(top)}, {left + length, at.y + Em(bottom)}, color);
    };
    bar(before, 0.16f, 0.42f, look().colors.dim);
    bar(after, 0.46f, 0.98f, ColorOf(category));
  }
}

}  // namespace

void ShowWhatIfAnswer(App& app, const WhatIfSubject& subject) {
  const auto& answer = app.whatif.answer();
  const ImVec2 size = ImGui::GetContentRegionAvail();
  if (!answer) return ShowWhyEmpty(size, "Running the step on the model of the allocator ...");
  if (!answer->ok()) return ShowWhyEmpty(size, text::OneLine(answer->error().sentence));
  if (const auto& not_kept = answer->value().not_kept) return ShowNotKept(app, *not_kept);
  const Prediction& prediction = answer->value().prediction;
  ShowKind(app, answer->value());
  ShowFigures(app, answer->value());
  ImGui::Dummy({0, Em(0.2f)});
  const float rest = ImGui::GetContentRegionAvail().y;
  ShowStep(app, subject.before, answer->value().after, std::clamp(rest * 0.55f, Em(7), Em(30)));
  const ImVec2 lower = ImGui::GetContentRegionAvail();
  const TwoParts parts = SplitView(lower, std::clamp(lower.x * 0.42f, Em(12), Em(30)), 0);
  BeginPart("categories", parts.first);
  ShowCategories(prediction);
  ImGui::EndChild();
  if (parts.beside) ImGui::SameLine(0, Em(1));
  BeginPart("changes", parts.second);
  ShowChanges(app, answer->value());
  ImGui::EndChild();
}

void ShowWhatIf(App& app, ImVec2 size) {
  app.whatif.Update(*app.session.document(), *app.session.device(), app.session.wake());
  app.WaitFor(app.whatif.busy());
  const auto& subject = app.whatif.subject();
  if (!subject) return ShowWhyEmpty(size, "Reading the recorded step ...");
  if (!subject->ok())
    return ShowWhyEmpty(size,
                        "What if has no step to change here. " + text::OneLine(subject->error().sentence));
  const TwoParts parts = SplitView(size, std::clamp(size.x * 0.27f, Em(17.6f), Em(20)), 0.4f);
  ImGui::BeginChild("levers", parts.first);
  ShowWhatIfControls(app, subject->value());
  ImGui::EndChild();
  if (parts.beside) ImGui::SameLine(0, Em(1));
  ImGui::BeginChild("answer", parts.second);
  ShowFit(app, subject->value());
  ShowWhatIfAnswer(app, subject->value());
  ImGui::EndChild();
}

}  // namespace vramscope::viewer
