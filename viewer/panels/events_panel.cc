// SPDX-License-Identifier: Apache-2.0
// The allocations and frees of the device as a list that follows the moment. A click goes to an event.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/report/owners.h"
#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

// The last change at or before the moment.
size_t ChangeAt(const model::Device& device, model::EventIndex moment) {
  size_t low = 0;
  size_t high = device.changes.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (device.changes[middle].event <= moment)
      low = middle + 1;
    else
      high = middle;
  }
  return low == 0 ? 0 : low - 1;
}

void ShowEventRow(App& app, const model::Change& change, bool here, int number) {
  const Look& l = look();
  const Document& document = *app.session.document();
  const model::Run& run = *document.run;
  const model::Block& block = run.blocks[change.block()];
  ImGui::TableNextRow();
  ImGui::TableNextColumn();
  PushFont(l.fonts.mono);
  if (ImGui::Selectable(fmt::format("{}##{}", text::FormatCount(change.event), number).c_str(), here,
                        ImGuiSelectableFlags_SpanAllColumns)) {
    app.session.Remember();
    app.session.SetMoment(change.event);
    app.session.SelectBlock(change.block());
    app.event_in_table = app.session.place.moment;
  }
  if (here) app.NameLastItem("event.here");
  ImGui::PopFont();
  const auto cell = [&](const std::string& text, ImU32 color) {
    ImGui::TableNextColumn();
    ImGui::PushStyleColor(ImGuiCol_Text, color);
    ImGui::TextUnformatted(FitText(l.fonts.text, text, ImGui::GetContentRegionAvail().x).c_str());
    ImGui::PopStyleColor();
  };
  cell(TimeText(run, run.times.TimeOf(change.event)), l.colors.dim);
  cell(change.freed() ? "freed" : "allocated", change.freed() ? l.colors.accent : l.colors.warning);
  cell(text::FormatBytes(block.size), l.colors.text);
  cell(text::FormatCount(change.block() + 1), l.colors.dim);
  const model::EventIndex seen = change.freed() && change.event > 0 ? change.event - 1 : change.event;
  const classify::Category category = document.analysis->categories().At(change.block(), seen).category;
  cell(document.WordsOf(category).name, l.colors.text);
  const std::string_view name = document.analysis->names().Of(change.block());
  cell(text::OneLine(name.empty() ? report::FrameToShow(run, block.stack) : name), l.colors.text);
}

}  // namespace

void ShowEvents(App& app) {
  const Session& session = app.session;
  const model::Device& device = session.document()->run->devices[session.device()->index];
  const size_t here = ChangeAt(device, session.place.moment);
  ImGui::AlignTextToFramePadding();
  ImGui::TextDisabled("%s", text::FormatCount(device.changes.size(), "event").c_str());
  constexpr ImGuiTableFlags kFlags = ImGuiTableFlags_Resizable | ImGuiTableFlags_RowBg |
                                     ImGuiTableFlags_ScrollY | ImGuiTableFlags_BordersInnerV |
                                     ImGuiTableFlags_NoSavedSettings;
  if (!BeginWideTable("events", 7, kFlags, Em(50))) return;
  ImGui::TableSetupScrollFreeze(0, 1);
  for (const auto& [name, width] : {std::pair{"Event", 5.5f},
                                    {"Time", 6.5f},
                                    {"What", 5.0f},
                                    {"Size", 5.2f},
                                    {"Block", 4.4f},
                                    {"Category", 10.0f}})
    ImGui::TableSetupColumn(name, ImGuiTableColumnFlags_WidthFixed, Em(width));
  ImGui::TableSetupColumn("Name or line", ImGuiTableColumnFlags_WidthStretch);
  ImGui::TableHeadersRow();
  if (app.event_in_table != session.place.moment) {
    app.event_in_table = session.place.moment;
    const float height = ImGui::GetTextLineHeight() + 2 * ImGui::GetStyle().CellPadding.y;
    ImGui::SetScrollY(std::max(0.0f, static_cast<float>(here) * height - ImGui::GetWindowHeight() / 2));
  }
  ImGuiListClipper clipper;
  clipper.Begin(static_cast<int>(device.changes.size()));
  while (clipper.Step()) {
    for (int i = clipper.DisplayStart; i < clipper.DisplayEnd; ++i)
      ShowEventRow(app, device.changes[static_cast<size_t>(i)], static_cast<size_t>(i) == here, i);
  }
  ImGui::EndTable();
}

}  // namespace vramscope::viewer
