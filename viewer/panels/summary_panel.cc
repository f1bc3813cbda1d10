// SPDX-License-Identifier: Apache-2.0
// The summary: the report's headline, four cards that lead into the other views, and the timeline below them.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr float kLeastCard = 17;      // Em; narrower ones go on another line
constexpr float kNarrow = 34;         // Em; below that long lines are wrapped, and not shortened
constexpr float kLeastTimeline = 13;  // Em of height; below that there is no timeline

void Follow(App& app, SummaryLink link) {
  Session& session = app.session;
  session.Remember();
  session.tab_chosen = true;
  const auto show = [&session](Tab tab) { session.place.tab = tab; };
  switch (link) {
    case SummaryLink::kNone:
      return;
    case SummaryLink::kPeak:
      session.SetMoment(session.device()->curve.peak().event);
      session.place.window.Reveal(session.MomentTime());
      return show(Tab::kTimeline);
    case SummaryLink::kOwners:
      return show(Tab::kOwners);
    case SummaryLink::kFragmentation:
      session.SetMoment(session.device()->curve.peak().event);
      return show(Tab::kFragmentation);
    case SummaryLink::kOutOfMemory:
      return show(Tab::kOutOfMemory);
    case SummaryLink::kLeaks:
      return show(Tab::kLeaks);
    case SummaryLink::kWhatIf:
      return show(Tab::kWhatIf);
  }
}

// A text that is a link, on as many lines as it takes; true if it was clicked.
bool LinkLine(App& app, const std::string& name, const Font& font, const std::string& text, ImU32 color) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  PushFont(font);
  const float height = ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y;
  ImGui::PushID(name.c_str());
  const bool clicked = ImGui::InvisibleButton("link", {width, height + Em(0.2f)});
  ImGui::PopID();
  app.NameLastItem(name);
  const bool hovered = ImGui::IsItemHovered();
  ImGui::GetWindowDrawList()->AddText(ImGui::GetFont(), ImGui::GetFontSize(), at,
                                      hovered ? look().colors.accent : color, text.c_str(), nullptr, width);
  ImGui::PopFont();
  if (hovered) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  return clicked;
}

void DrawBar(const SummaryCard& card, float width) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = Em(0.6f);
  ImGui::Dummy({width, height});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(at, {at.x + width, at.y + height}, look().colors.background, Em(0.15f));
  float x = at.x;
  for (const SummaryRow& row : card.rows) {
    if (row.rgb == 0) continue;
    const float wide =
        width * static_cast<float>(static_cast<double>(row.bytes) / static_cast<double>(card.whole));
    list.AddRectFilled({x, at.y}, {x + std::max(wide - 1, 1.0f), at.y + height}, FromRgb(row.rgb));
    x += wide;
  }
}

void ShowCardRow(const SummaryRow& row, bool swatches, float figures) {
  const Look& l = look();
  if (row.figure.empty()) {
    ImGui::PushStyleColor(ImGuiCol_Text, row.warning ? l.colors.warning : l.colors.dim);
    ShowWrapped(row.text);
    ImGui::PopStyleColor();
    return;
  }
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x;
  const float height = Em(1.25f);
  ImGui::Dummy({width, height});
  ImDrawList& list = *ImGui::GetWindowDrawList();
  float x = at.x;
  if (swatches) {
    const float box = Em(0.7f);
    const float y = at.y + (height - box) / 2;
    const ImVec2 max = {x + box, y + box};
    row.rgb == 0 ? list.AddRect({x, y}, max, l.colors.line, 2)
                 : list.AddRectFilled({x, y}, max, FromRgb(row.rgb), 2);
    x += Em(1.1f);
  }
  const ImVec2 size = TextSize(l.fonts.mono, row.figure);
  DrawText(list, l.fonts.mono, {x + std::max(figures - size.x, 0.0f), at.y + (height - size.y) / 2},
           row.warning ? l.colors.warning : l.colors.text, row.figure);
  const float text_x = x + std::max(figures, size.x) + Em(0.7f);
  const std::string fitted = FitText(l.fonts.text, row.text, at.x + width - text_x);
  DrawText(list, l.fonts.text, {text_x, at.y + (height - l.fonts.text.size) / 2}, l.colors.text, fitted);
  if (!ImGui::IsItemHovered() || (row.more.empty() && fitted == row.text)) return;
  const std::string tip = row.more.empty() ? row.text : row.text + "\n" + row.more;
  ImGui::SetTooltip("%s", tip.c_str());
}

float HeightOf(const SummaryCard& card, float width) {
  float height = Em(3) + (card.whole != 0 ? Em(1) : 0);
  const float spacing = ImGui::GetStyle().ItemSpacing.y;
  for (const SummaryRow& row : card.rows) {
    const float lines =
        row.figure.empty()
            ? std::ceil(TextSize(look().fonts.text, row.text).x / std::max(width - Em(3), Em(1)))
            : 1;
    height += Em(1.25f) * lines + spacing;
  }
  return height;
}

void ShowCard(App& app, const SummaryCard& card, ImVec2 size) {
  ImGui::PushStyleColor(ImGuiCol_ChildBg, look().colors.raised);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(0.9f), Em(0.6f)});
  ImGui::PushStyleVar(ImGuiStyleVar_ChildRounding, Em(0.35f));
  ImGui::BeginChild(card.key, size, ImGuiChildFlags_AlwaysUseWindowPadding);
  const std::string name = fmt::format("summary.{}", card.key);
  if (card.link == SummaryLink::kNone) {
    ShowHeading(card.title);
    app.NameLastItem(name);
  } else if (LinkLine(app, name, look().fonts.strong, card.title + "  >", look().colors.text)) {
    Follow(app, card.link);
  }
  if (card.whole != 0) DrawBar(card, ImGui::GetContentRegionAvail().x);
  float figures = 0;
  for (const SummaryRow& row : card.rows)
    figures = std::max(figures, TextSize(look().fonts.mono, row.figure).x);
  for (const SummaryRow& row : card.rows) ShowCardRow(row, card.whole != 0, figures);
  ImGui::EndChild();
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
}

// As many cards are side by side as are wide enough; all cards on one line are equally high.
float CardsHeight(const RunSummary& summary, float width, size_t columns, std::vector<float>& rows) {
  const float gap = Em(0.5f);
  const float wide = (width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
  float sum = 0;
  rows.clear();
  for (size_t i = 0; i < summary.cards.size(); ++i) {
    if (i % columns == 0) rows.push_back(0);
    rows.back() = std::max(rows.back(), HeightOf(summary.cards[i], wide));
  }
  for (const float row : rows) sum += row + gap;
  return sum;
}

void ShowCards(App& app, const RunSummary& summary, float width, size_t columns,
               const std::vector<float>& rows) {
  const float gap = Em(0.5f);
  const float wide =
      std::floor((width - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns));
  ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
  for (size_t i = 0; i < summary.cards.size(); ++i) {
    if (i % columns != 0) ImGui::SameLine();
    ShowCard(app, summary.cards[i], {wide, rows[i / columns]});
  }
  ImGui::PopStyleVar();
}

void ShowHeadlines(App& app, const RunSummary& summary) {
  if (LinkLine(app, "summary.headline", look().fonts.strong, summary.headline, look().colors.text))
    Follow(app, SummaryLink::kPeak);
  if (!summary.failure.empty() &&
      LinkLine(app, "summary.failure", look().fonts.text, summary.failure, look().colors.bad))
    Follow(app, SummaryLink::kOutOfMemory);
  for (const std::string* line : {&summary.about, &summary.command}) {
    if (line->empty()) continue;
    if (ImGui::GetContentRegionAvail().x < Em(kNarrow)) {
      ShowNote(*line);
      continue;
    }
    ImGui::TextDisabled("%s", FitText(look().fonts.text, *line, ImGui::GetContentRegionAvail().x).c_str());
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", line->c_str());
  }
}

}  // namespace

void ShowSummary(App& app, ImVec2 size) {
  app.summary.Update(*app.session.document(), *app.session.device(), app.session.file()->live(),
                     app.session.wake());
  app.WaitFor(app.summary.busy());
  const RunSummary& summary = app.summary.summary() ? *app.summary.summary() : ExpectedSummary();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float scrollbar = ImGui::GetStyle().ScrollbarSize;
  const float width = size.x - scrollbar;
  const auto columns = static_cast<size_t>(std::clamp(width / Em(kLeastCard), 1.0f, 4.0f));
  std::vector<float> rows;
  const float lines = Em(1.6f) * (summary.failure.empty() ? 3 : 4);
  const float wanted = lines + CardsHeight(summary, width, columns, rows);
  // A small window shows what fits and scrolls to the rest.
  const float timeline = size.y - std::min(wanted, size.y * 0.55f) - Em(0.4f);
  const bool with_timeline = timeline >= Em(kLeastTimeline);
  const float height = with_timeline ? size.y - timeline - Em(0.4f) : size.y;
  ImGui::BeginChild("summary", {size.x, height});
  ShowHeadlines(app, summary);
  ImGui::Dummy({0, Em(0.1f)});
  ShowCards(app, summary, width, columns, rows);
  ImGui::EndChild();
  if (!with_timeline) return;
  ImGui::SetCursorScreenPos({at.x, at.y + size.y - timeline});
  ShowTimeline(app, {size.x, timeline});
}

}  // namespace vramscope::viewer
