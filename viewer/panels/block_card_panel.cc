// SPDX-License-Identifier: Apache-2.0
// The card of the selected block: what it is and why, its lifetime, and its stacks with the program's own
// lines first.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr uint32_t kLinesAround = 4;

// The file's text, if the trace contains it.
std::optional<std::string_view> EmbeddedText(const model::Run& run, const SourcePlace& place) {
  const trace::SourceFiles& files = run.source->source_files();
  const auto found = files.find(place.path);
  return found == files.end() ? std::nullopt : std::optional(found->second);
}

// Spaces that all lines begin with.
size_t CommonIndent(const std::vector<std::string>& lines) {
  size_t common = std::string::npos;
  for (const std::string& line : lines) {
    const size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos) common = std::min(common, first);
  }
  return common == std::string::npos ? 0 : common;
}

// Code is read from its start: what does not fit is cut at the end.
std::string CutAtEnd(const Font& font, const std::string& line, float width) {
  const float cell = TextSize(font, "x").x;
  const auto fits = static_cast<size_t>(std::max(width / std::max(cell, 1.0f), 1.0f));
  return line.size() <= fits ? line : line.substr(0, fits - 1) + "~";
}

// The editor runs on the machine of the viewer, but the path is that of the recording.
void ShowEditorLink(App& app, const SourcePlace& place) {
  if (!app.open_link || !place.path.starts_with('/')) return;
  if (ImGui::SmallButton("Open in VS Code")) app.open_link(EditorLink(place));
  app.NameLastItem("source.editor");
}

// The lines around a frame's line, and whether they are from disk or from the trace.
void ShowSource(const OpenSource& source) {
  const Look& l = look();
  if (!source.excerpt.ok()) {
    ImGui::PushTextWrapPos(0);
    ImGui::PushStyleColor(ImGuiCol_Text, l.colors.warning);
    ImGui::TextUnformatted(source.excerpt.error().sentence.c_str());
    ImGui::PopStyleColor();
    ImGui::PopTextWrapPos();
    return;
  }
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const float width = ImGui::GetContentRegionAvail().x;
  const float row = Em(1.25f);
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const auto& lines = source.excerpt->lines;
  list.AddRectFilled(at, {at.x + width, at.y + row * static_cast<float>(lines.size())}, l.colors.raised,
                     Em(0.2f));
  const size_t indent = CommonIndent(lines);
  for (size_t i = 0; i < lines.size(); ++i) {
    const uint32_t number = source.excerpt->first + static_cast<uint32_t>(i);
    const float top = at.y + row * static_cast<float>(i);
    const bool here = number == source.place.line;
    if (here) list.AddRectFilled({at.x, top}, {at.x + width, top + row}, l.colors.selected);
    const float y = top + (row - l.fonts.mono.size) / 2;
    const std::string label = std::to_string(number);
    DrawText(list, l.fonts.mono, {at.x + Em(2.2f) - TextSize(l.fonts.mono, label).x, y}, l.colors.dim, label);
    const std::string line = lines[i].substr(std::min(indent, lines[i].size()));
    const std::string fitted = CutAtEnd(l.fonts.mono, line, width - Em(3));
    DrawText(list, l.fonts.mono, {at.x + Em(2.8f), y}, here ? l.colors.text : l.colors.dim, fitted);
    ImGui::InvisibleButton(label.c_str(), {width, row});
    if (ImGui::IsItemHovered() && fitted != line) ImGui::SetTooltip("%s", line.c_str());
    ImGui::SetCursorScreenPos({at.x, top + row});
  }
  ImGui::PushTextWrapPos(0);
  PushFont(l.fonts.small);
  ImGui::TextDisabled("%s", text::OneLine(source.excerpt->from).c_str());
  ImGui::PopFont();
  ImGui::PopTextWrapPos();
  ImGui::Dummy({0, Em(0.2f)});
}

// "train.py:32  forward"; a click opens the lines around it.
void ShowStackFrame(App& app, const CardFrame& frame) {
  const Look& l = look();
  const model::Run& run = *app.session.document()->run;
  ImGui::PushID(static_cast<int>(frame.number));
  const std::optional<SourcePlace> place = SourcePlaceOf(frame.whole);
  const bool open = app.source && app.source->frame == frame.whole;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = Em(1.3f);
  ImGui::InvisibleButton("frame", {width, height});
  app.NameLastItem(fmt::format("frame.{}", frame.number));
  const bool hovered = ImGui::IsItemHovered();
  const bool clicked = place && ImGui::IsItemClicked(ImGuiMouseButton_Left);
  if (hovered)
    ImGui::SetTooltip("%s%s", text::OneLine(frame.whole).c_str(),
                      place ? "\n"
                              "Click: show the source."
                            : "");
  ImDrawList& list = *ImGui::GetWindowDrawList();
  if (hovered) list.AddRectFilled(at, {at.x + width, at.y + height}, l.colors.raised, Em(0.2f));
  const float y = at.y + (height - l.fonts.mono.size) / 2;
  const ImU32 ink = open ? l.colors.accent : frame.own ? l.colors.text : l.colors.dim;
  const std::string where = FitText(l.fonts.mono, frame.place, width);
  DrawText(list, l.fonts.mono, {at.x, y}, ink, where);
  const float used = where.empty() ? 0 : TextSize(l.fonts.mono, where).x + Em(0.8f);
  if (used < width)
    DrawText(list, l.fonts.small, {at.x + used, at.y + (height - l.fonts.small.size) / 2}, l.colors.dim,
             FitText(l.fonts.small, frame.function, width - used));
  if (clicked) {
    if (open)
      app.source.reset();
    else
      app.source =
          OpenSource{frame.whole, *place, ReadSource(*place, kLinesAround, EmbeddedText(run, *place))};
  }
  if (app.source && app.source->frame == frame.whole) {
    PushFont(l.fonts.mono);
    ShowSource(*app.source);
    ImGui::PopFont();
    ShowEditorLink(app, app.source->place);
  }
  ImGui::PopID();
}

// Shows own frames; those of libraries only on request, or if there are no own frames.
void ShowStack(App& app, const char* heading, const std::vector<CardFrame>& frames) {
  if (frames.empty()) return;
  ImGui::PushID(heading);
  ImGui::Dummy({0, Em(0.2f)});
  ImGui::TextDisabled("%s", heading);
  const auto own = static_cast<size_t>(
      std::count_if(frames.begin(), frames.end(), [](const CardFrame& frame) { return frame.own; }));
  const size_t shown = app.card.all_frames ? frames.size()
                       : own == 0          ? std::min<size_t>(frames.size(), 3)
                                           : own;
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, 0});
  for (size_t i = 0; i < shown; ++i) ShowStackFrame(app, frames[i]);
  ImGui::PopStyleVar();
  const size_t folded = frames.size() - (own == 0 ? std::min<size_t>(frames.size(), 3) : own);
  if (folded != 0) {
    const std::string text = app.card.all_frames ? "only the program's own frames"
                                                 : fmt::format("+ {} frames of libraries", folded);
    if (ImGui::SmallButton(text.c_str())) app.card.all_frames = !app.card.all_frames;
    app.NameLastItem("frames.all");
  }
  ImGui::PopID();
}

// A fact that leads somewhere is a link.
void ShowCardFact(App& app, const CardFact& fact) {
  ShowFact(fact.label.c_str(), fact.value);
  app.NameLastItem("card." + fact.label);
  if (fact.moment == model::kNever && fact.block == model::kNone) return;
  if (!ImGui::IsItemHovered()) return;
  ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 max = ImGui::GetItemRectMax();
  list.AddLine({ImGui::GetItemRectMin().x, max.y}, max, look().colors.accent);
  ImGui::SetTooltip("%s",
                    fact.block != model::kNone ? "Click: show this block." : "Click: go to this moment.");
  if (!ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return;
  Session& session = app.session;
  session.Remember();
  if (fact.block != model::kNone) return session.SelectBlock(fact.block);
  session.SetMoment(fact.moment);
  session.place.window.Reveal(session.MomentTime());
}

}  // namespace

void ShowBlockCard(App& app) {
  Session& session = app.session;
  app.card.Update(*session.document(), *session.device(), session.layout(), session.place.block,
                  session.place.moment, session.wake());
  app.WaitFor(app.card.busy());
  const BlockCard& card = app.card.card();
  ImGui::Dummy({0, Em(0.4f)});
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float box = Em(0.75f);
  ImGui::GetWindowDrawList()->AddRectFilled({at.x, at.y + Em(0.2f)}, {at.x + box, at.y + Em(0.2f) + box},
                                            ColorOf(card.category), 2);
  ImGui::SetCursorScreenPos({at.x + Em(1.1f), at.y});
  const float copy = TextSize(look().fonts.text, "Copy").x + Em(1.2f);
  ShowHeading(FitText(look().fonts.strong, card.title, ImGui::GetContentRegionAvail().x - copy));
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", card.title.c_str());
  app.NameLastItem("card.title");
  ImGui::SameLine(RightEdge() - copy);
  if (ImGui::SmallButton("Copy")) ImGui::SetClipboardText(card.ToText().c_str());
  app.NameLastItem("card.copy");
  for (const CardFact& fact : card.facts) ShowCardFact(app, fact);
  ImGui::PushTextWrapPos(0);
  ImGui::TextDisabled("%s", card.proof.c_str());
  if (!card.as_in_step.empty()) ImGui::TextDisabled("%s", card.as_in_step.c_str());
  if (app.card.busy()) ImGui::TextDisabled("Reading shapes and frees ...");
  ImGui::PopTextWrapPos();
  ShowStack(app, "ALLOCATED AT", card.allocated_at);
  ShowStack(app, "FREED AT", card.freed_at);
}

}  // namespace vramscope::viewer
