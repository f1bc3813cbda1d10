// SPDX-License-Identifier: Apache-2.0
// The code to write for the chosen changes, and the commands that give the same answer or a missing one.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/whatif_panel.h"

namespace vramscope::viewer {
namespace {

// Wraps code into lines. They are drawn one by one, because ImGui would put the second line at a fraction of
// a pixel.
std::vector<std::string> CodeLines(const std::string& code, float width) {
  const Font& font = look().fonts.mono;
  std::vector<std::string> lines;
  for (size_t from = 0; from <= code.size();) {
    const size_t end = std::min(code.find('\n', from), code.size());
    const std::string line = text::OneLine(code.substr(from, end - from));
    const char* at = line.data();
    const char* const behind = line.data() + line.size();
    do {
      const char* const next =
          std::max(font.face->CalcWordWrapPosition(font.size, at, behind, width), std::min(at + 1, behind));
      lines.emplace_back(at, next);
      at = next;
      while (at < behind && *at == ' ') ++at;
    } while (at < behind);
    from = end + 1;
  }
  return lines;
}

void ShowCode(App& app, const std::string& name, const std::string& code) {
  const ImVec2 at = {std::floor(ImGui::GetCursorScreenPos().x), std::floor(ImGui::GetCursorScreenPos().y)};
  const float width = ImGui::GetContentRegionAvail().x - Em(4.2f);
  const std::vector<std::string> lines = CodeLines(code, width - Em(0.8f));
  const float line_height = std::ceil(look().fonts.mono.size * 1.12f);
  const float height = line_height * static_cast<float>(lines.size()) + std::floor(Em(0.5f));
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, look().colors.background, Em(0.2f));
  for (size_t i = 0; i < lines.size(); ++i) {
    DrawText(
        list, look().fonts.mono,
        {at.x + std::floor(Em(0.4f)), at.y + std::floor(Em(0.25f)) + line_height * static_cast<float>(i)},
        look().colors.text, lines[i]);
  }
  ImGui::SetCursorScreenPos({at.x + width + Em(0.5f), at.y});
  ImGui::PushID(name.c_str());
  if (ImGui::SmallButton("Copy")) ImGui::SetClipboardText(code.c_str());
  ImGui::PopID();
  app.NameLastItem("whatif.copy." + name);
  ImGui::SetCursorScreenPos({at.x, at.y + height + std::floor(Em(0.35f)) - ImGui::GetStyle().ItemSpacing.y});
  ImGui::Dummy({0, 0});  // only items make the window grow
}

}  // namespace

void ShowChanges(App& app, const WhatIfAnswer& answer) {
  const whatif::Prediction& prediction = answer.prediction;
  if (answer.asked.empty()) {
    ShowHeading("Nothing is changed yet");
    ShowWrapped(
        "Set a change on the left. The step then runs on the model of PyTorch's allocator. The two curves "
        "show memory before and after the change.");
    return;
  }
  for (const whatif::Refused& refused : prediction.refused) {
    ImGui::PushStyleColor(ImGuiCol_Text, look().colors.warning);
    ShowWrapped(fmt::format("Not applied: {}: {}", refused.asked.lever, text::OneLine(refused.reason)));
    ImGui::PopStyleColor();
  }
  if (!prediction.levers.empty()) ShowHeading("Lines to write");
  for (const whatif::Applied& applied : prediction.levers) {
    if (!applied.outcome.code.empty()) ShowCode(app, applied.asked.lever, applied.outcome.code);
    if (!applied.outcome.time_basis.empty()) {
      ShowWrapped(fmt::format("{} more a step: {}.",
                              text::FormatDuration(static_cast<uint64_t>(applied.outcome.extra_ns)),
                              applied.outcome.time_basis));
    }
    ImGui::PushStyleColor(ImGuiCol_Text, look().colors.dim);
    for (const std::string& note : applied.outcome.notes) ShowWrapped(text::OneLine(note));
    ImGui::PopStyleColor();
  }
  ImGui::TextDisabled("The same on the command line");
  ShowCode(app, "command", answer.command);
}

void ShowNotKept(App& app, const KeptReruns::Unanswered& not_kept) {
  ImGui::Dummy({0, Em(1)});
  ShowHeading("No re-run yet");
  ShowWrapped(text::OneLine(not_kept.sentence));
  ImGui::Dummy({0, Em(0.2f)});
  ShowCode(app, "make", not_kept.command);
  if (ImGui::Button("Look again")) app.whatif.LookAgain();
  app.NameLastItem("whatif.look_again");
  ImGui::SameLine(0, Em(0.6f));
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("after the run");
}

}  // namespace vramscope::viewer
