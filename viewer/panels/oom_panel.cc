// SPDX-License-Identifier: Apache-2.0
// Why a request ran out of memory: the verdict, where the free bytes were, what was tried, what to change.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/fragmentation/autopsy_words.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/named_table.h"

namespace vramscope::viewer {
namespace {

using fragmentation::Autopsy;

void Paragraphs(const char* heading, const std::vector<std::string>& sentences) {
  if (sentences.empty()) return;
  ImGui::Dummy({0, Em(0.3f)});
  ShowHeading(heading);
  for (const std::string& sentence : sentences) ShowWrapped(text::OneLine(sentence));
}

const char* EndText(fragmentation::TrialEnd end) {
  switch (end) {
    case fragmentation::TrialEnd::kFits:
      return "would have fit";
    case fragmentation::TrialEnd::kFails:
      return "fails too";
    case fragmentation::TrialEnd::kFailsBefore:
      return "fails even earlier";
    case fragmentation::TrialEnd::kFailsAfter:
      return "fails a little later";
  }
  return "";
}

void ShowHolders(const Autopsy& autopsy) {
  ShowHeading("What uses the memory");
  NamedTable table;
  if (!table.Begin("holders", {{"Size", 5}, {"Blocks", 4}, {"What", 12}}, 2,
                   ImGuiTableFlags_RowBg | ImGuiTableFlags_ScrollY))
    return;
  for (const fragmentation::Holder& holder : autopsy.holders) {
    table.NextName();
    const auto category = classify::CategoryFromKey(holder.category);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const ImU32 color = ColorOf(category.value_or(classify::Category::kUnattributed));
    ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + Em(0.65f), at.y + Em(0.85f)},
                                              color, 2);
    ImGui::SetCursorPosX(ImGui::GetCursorPosX() + Em(1));
    const std::string title =
        holder.title.empty() && category ? classify::Info(*category).plural : text::OneLine(holder.title);
    ImGui::TextUnformatted(table.Fit(title).c_str());
    PushFont(look().fonts.mono);
    table.NextFigure();
    ImGui::TextUnformatted(text::FormatBytes(holder.bytes).c_str());
    table.NextFigure();
    ImGui::TextUnformatted(text::FormatCount(holder.blocks).c_str());
    ImGui::PopFont();
  }
  table.End();
}

void ShowAutopsy(App& app, const Autopsy& autopsy, ImVec2 size) {
  const TwoParts parts = SplitView(size, size.x * 0.55f, 0.55f);
  ImGui::BeginChild("verdict", parts.first);
  if (autopsy.failure) {
    ImGui::PushStyleColor(ImGuiCol_Text, look().colors.bad);
    ShowHeading(fmt::format("Out of memory: {} {} requested", text::FormatBytes(autopsy.failure->requested),
                            autopsy.failure->requested == 1 ? "was" : "were"));
    ImGui::PopStyleColor();
  }
  ShowWrapped(text::OneLine(fragmentation::VerdictSentence(autopsy)));
  Paragraphs("Why the free memory was not enough", autopsy.reasons);
  Paragraphs("What to change", autopsy.advice);
  if (!autopsy.trials.empty()) {
    ImGui::Dummy({0, Em(0.3f)});
    ShowHeading("The same run with other settings");
    for (const fragmentation::Trial& trial : autopsy.trials) {
      ShowWrapped(text::OneLine(trial.settings));
      StayOnLine(ImGui::CalcTextSize(EndText(trial.end)).x, Em(0.6f));
      ImGui::TextDisabled("%s", EndText(trial.end));
    }
  }
  Paragraphs("Not known", autopsy.unknown);
  if (autopsy.failure && ImGui::Button("Show this moment")) {
    const Status went = app.session.GoTo("oom");
    app.session.message = went.ok() ? "" : went.error().sentence;
    app.session.place.tab = Tab::kMap;
  }
  app.NameLastItem("oom.show");
  ImGui::EndChild();
  if (parts.beside) ImGui::SameLine(0, Em(1));
  ImGui::BeginChild("holders", parts.second);
  ShowHolders(autopsy);
  ImGui::EndChild();
}

}  // namespace

void ShowOutOfMemory(App& app, ImVec2 size) {
  const LayoutView* layout = app.session.layout();
  if (layout == nullptr) return ShowWhyEmpty(size, "Placing every block at its address ...");
  if (layout->subject.failures.empty()) {
    return ShowWhyEmpty(size, layout->why_not.empty()
                                  ? "No request on this device ran out of memory during the recording."
                                  : layout->why_not);
  }
  if (layout->walk == nullptr) return ShowWhyEmpty(size, layout->why_not);
  app.autopsy.Update(*layout, app.session.wake());
  app.WaitFor(app.autopsy.busy());
  const auto& autopsy = app.autopsy.autopsy();
  if (!autopsy) return ShowWhyEmpty(size, "Replaying the run with other settings ...");
  if (!autopsy->ok()) return ShowWhyEmpty(size, text::OneLine(autopsy->error().sentence));
  ShowAutopsy(app, autopsy->value(), size);
}

}  // namespace vramscope::viewer
