// SPDX-License-Identifier: Apache-2.0
// The tabs of the views on one line, and the buttons for the view that is shown. Where not all tabs fit, the
// wheel scrolls them, and a menu after them lists all views.
//
//   │ Summary │ Timeline │ Owners │ Address m▕ v                    Copy  PNG  SVG │
#include <algorithm>

#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

struct TabSpec {
  Tab tab;
  const char* title;
  const char* key;  // as in the help
  void (*show)(App& app, ImVec2 size);
};

constexpr TabSpec kTabs[] = {{Tab::kSummary, "Summary", "M", ShowSummary},
                             {Tab::kTimeline, "Timeline", "1", ShowTimeline},
                             {Tab::kOwners, "Owners", "2", ShowOwners},
                             {Tab::kMap, "Address map", "3", ShowAddressMap},
                             {Tab::kAddressTime, "Addresses over time", "4", ShowAddressTime},
                             {Tab::kFragmentation, "Fragmentation", "5", ShowFragmentation},
                             {Tab::kOutOfMemory, "Out of memory", "6", ShowOutOfMemory},
                             {Tab::kLeaks, "Leaks", "7", ShowLeaks},
                             {Tab::kCompare, "Compare", "8", ShowCompare},
                             {Tab::kWhatIf, "What if", "9", ShowWhatIf},
                             {Tab::kRanks, "Ranks", "J", ShowRanks}};

static_assert(std::size(kTabs) == kTabCount, "a view has no tab");

float TabHeight() { return Em(1.7f); }
float TabGap() { return Em(0.3f); }
float TabWidth(const TabSpec& spec) { return TextSize(look().fonts.text, spec.title).x + Em(1.4f); }

void ShowTab(App& app, const TabSpec& spec) {
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const bool active = app.session.place.tab == spec.tab;
  const ImVec2 size = {TabWidth(spec), TabHeight()};
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton(spec.title, size)) GoToView(app, spec.tab);
  if (active || ImGui::IsItemHovered()) {
    list.AddRectFilled(at, {at.x + size.x, at.y + size.y},
                       active ? look().colors.selected : look().colors.raised, Em(0.25f));
  }
  DrawText(list, look().fonts.text, {at.x + Em(0.7f), at.y + (size.y - look().fonts.text.size) / 2},
           active ? look().colors.text : look().colors.dim, spec.title);
}

// The tabs, `width` wide. Scrolls to the shown view's tab when the view or the width changes, if the tab is
// not wholly visible. A clicked tab stays under the mouse.
void ShowTabStrip(App& app, float width) {
  ImGui::BeginChild("tabs", {width, TabHeight()}, ImGuiChildFlags_None,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ScrollSideways();
  const std::pair<Tab, float> in_view = {app.session.place.tab, width};
  const float left = ImGui::GetWindowPos().x;
  for (const TabSpec& spec : kTabs) {
    ShowTab(app, spec);
    const std::string name = std::string("tab.") + TabKey(spec.tab);
    const float begin = ImGui::GetItemRectMin().x;
    const float end = ImGui::GetItemRectMax().x;
    const float middle = (begin + end) / 2;
    const bool whole = begin >= left && end <= left + width + 0.5f;
    if (middle >= left && middle < left + width)
      app.NameLastItem(name);
    else if (app.sought == name)
      ImGui::SetScrollHereX();
    if (spec.tab == in_view.first && app.tab_in_view != in_view && !whole) ImGui::SetScrollHereX();
    ImGui::SameLine(0, TabGap());
  }
  app.tab_in_view = in_view;
  ImGui::EndChild();
}

// A small triangle that opens the list of all views, with their keys.
void ShowViewMenu(App& app) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const ImVec2 size = {ImGui::GetFrameHeight(), TabHeight()};
  if (ImGui::InvisibleButton("tabs.all", size)) ImGui::OpenPopup("views");
  app.NameLastItem("tabs.all");
  const ImU32 ink = ImGui::IsItemHovered() ? look().colors.text : look().colors.dim;
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("All views");
  const ImVec2 middle = {at.x + size.x / 2, at.y + size.y / 2};
  const float half = Em(0.28f);
  ImGui::GetWindowDrawList()->AddTriangleFilled({middle.x - half, middle.y - half * 0.6f},
                                                {middle.x + half, middle.y - half * 0.6f},
                                                {middle.x, middle.y + half * 0.8f}, ink);
  if (!ImGui::BeginPopup("views")) return;
  for (const TabSpec& spec : kTabs) {
    if (ImGui::MenuItem(spec.title, spec.key, app.session.place.tab == spec.tab)) GoToView(app, spec.tab);
    app.NameLastItem(std::string("tab.") + TabKey(spec.tab));
  }
  ImGui::EndPopup();
}

// Buttons for the view as a whole, at the right end of the line.
void ShowViewButtons(App& app, float width) {
  const float top = ImGui::GetCursorPosY() + Em(0.25f);
  ImGui::SetCursorPosX(ImGui::GetCursorPosX() + std::max(0.0f, ImGui::GetContentRegionAvail().x - width));
  const auto button = [&](const char* label, const char* name, const char* why) {
    ImGui::SetCursorPosY(top);
    const bool clicked = ImGui::SmallButton(label);
    app.NameLastItem(name);
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", why);
    ImGui::SameLine(0, Em(0.2f));
    return clicked;
  };
  ImGui::PushStyleColor(ImGuiCol_Button, IM_COL32(0, 0, 0, 0));
  ImGui::PushStyleColor(ImGuiCol_Text, look().colors.dim);
  if (button("Copy", "view.copy", "Copy what the view shows, as a table (Ctrl+C)")) CopyViewTable(app);
  if (button("PNG", "view.png", "Save a picture of the view next to the file (Ctrl+S)"))
    app.picture = PictureKind::kPng;
  if (button("SVG", "view.svg", "Save a picture as SVG next to the file (Ctrl+Shift+S)"))
    app.picture = PictureKind::kSvg;
  ImGui::PopStyleColor(2);
  ImGui::NewLine();
}

}  // namespace

void ShowViewTabs(App& app) {
  constexpr float kLeastTabs = 8;  // text heights; with less room for tabs, the buttons are below them
  float wanted = -TabGap();
  for (const TabSpec& spec : kTabs) wanted += TabWidth(spec) + TabGap();
  const float all = ImGui::GetContentRegionAvail().x;
  const float buttons = app.session.device() == nullptr ? 0 : Em(9.6f);
  const bool one_line = all - buttons >= Em(kLeastTabs);
  const float room = one_line ? all - buttons : all;
  if (wanted <= room) {
    ShowTabStrip(app, wanted);
  } else {
    ShowTabStrip(app, std::max(room - ImGui::GetFrameHeight() - TabGap(), Em(2)));
    ImGui::SameLine(0, 0);
    ShowViewMenu(app);
  }
  if (buttons == 0) return;
  if (one_line) ImGui::SameLine(0, 0);
  ShowViewButtons(app, buttons);
}

void ShowViewContent(App& app, ImVec2 size) {
  for (const TabSpec& spec : kTabs) {
    if (spec.tab == app.session.place.tab) spec.show(app, size);
  }
}

void GoToView(App& app, Tab tab) {
  if (app.session.place.tab == tab) return;
  app.session.Remember();
  app.session.place.tab = tab;
  app.session.tab_chosen = true;
}

}  // namespace vramscope::viewer
