// SPDX-License-Identifier: Apache-2.0
// The bar on top: which file and device, what it holds in one line, back and forward, help, theme.
#include <fmt/format.h>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

bool ArrowButton(App& app, const char* name, ImGuiDir direction, bool enabled) {
  ImGui::BeginDisabled(!enabled);
  const bool clicked = ImGui::ArrowButton(name, direction);
  ImGui::EndDisabled();
  app.NameLastItem(name);
  return clicked;
}

// An x at the end of a file's tab.
bool CrossButton(App& app, const std::string& name, float height) {
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float width = Em(1);
  const bool clicked = ImGui::InvisibleButton(name.c_str(), {width, height});
  app.NameLastItem(name);
  const ImU32 ink = ImGui::IsItemHovered() ? look().colors.text : look().colors.dim;
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("Close this file (middle click, or Ctrl+W in a native window)");
  const ImVec2 middle = {at.x + width * 0.4f, at.y + height / 2};
  const float arm = Em(0.22f);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  list.AddLine({middle.x - arm, middle.y - arm}, {middle.x + arm, middle.y + arm}, ink, Em(0.09f));
  list.AddLine({middle.x - arm, middle.y + arm}, {middle.x + arm, middle.y - arm}, ink, Em(0.09f));
  return clicked;
}

void ShowLiveMark(App& app, size_t file) {
  ImGui::SameLine(0, Em(0.2f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.y + ImGui::GetFrameHeight() / 2;
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + Em(0.35f), middle}, Em(0.25f), look().colors.accent);
  DrawText(*ImGui::GetWindowDrawList(), look().fonts.small,
           {at.x + Em(0.8f), middle - look().fonts.small.size / 2}, look().colors.accent, "live");
  ImGui::Dummy({Em(0.8f) + TextSize(look().fonts.small, "live").x, ImGui::GetFrameHeight()});
  app.NameLastItem(fmt::format("live.{}", file));
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("The file is still being written; new events appear as they arrive.");
}

void ShowFiles(App& app) {
  Session& session = app.session;
  size_t closed = session.files().size();
  const float height = ImGui::GetFrameHeight();
  for (size_t i = 0; i < session.files().size(); ++i) {
    const bool active = session.place.file == i;
    ImGui::PushID(static_cast<int>(i));
    ImGui::PushStyleColor(ImGuiCol_Text, active ? look().colors.text : look().colors.dim);
    ImGui::PushStyleColor(ImGuiCol_Button, active ? look().colors.raised : IM_COL32(0, 0, 0, 0));
    const std::string name = FitText(look().fonts.text, text::OneLine(session.files()[i]->name()), Em(16));
    if (ImGui::Button(name.c_str()) && !active) session.ShowFile(i);
    app.NameLastItem(fmt::format("file.{}", i));
    if (active && app.file_in_view != i) ImGui::SetScrollHereX();
    if (active) app.file_in_view = i;
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("%s", text::OneLine(session.files()[i]->job->path()).c_str());
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) closed = i;
    ImGui::SameLine(0, 0);
    if (CrossButton(app, fmt::format("close.{}", i), height)) closed = i;
    ImGui::PopStyleColor(2);
    ImGui::PopID();
    if (session.files()[i]->live()) ShowLiveMark(app, i);
    ImGui::SameLine();
  }
  if (closed < session.files().size()) app.CloseFile(closed);
}

// The width of the files' tabs and of the button after them.
float FileTabsWidth(const App& app) {
  const ImGuiStyle& style = ImGui::GetStyle();
  float wanted = ImGui::GetFrameHeight() + style.ItemSpacing.x;
  for (const auto& file : app.session.files()) {
    const std::string name = FitText(look().fonts.text, text::OneLine(file->name()), Em(16));
    wanted += TextSize(look().fonts.text, name).x + 2 * style.FramePadding.x + ImGui::GetFrameHeight() +
              style.ItemSpacing.x + (file->live() ? Em(3.2f) : 0);
  }
  return wanted;
}

// The files, and a button for another one. Where they do not fit, the wheel scrolls them.
void ShowFileTabs(App& app, float room) {
  const float width = std::min(FileTabsWidth(app), std::max(room, Em(7)));
  ImGui::PushStyleColor(ImGuiCol_ChildBg, IM_COL32(0, 0, 0, 0));
  ImGui::BeginChild("files", {width, ImGui::GetFrameHeight()}, ImGuiChildFlags_None,
                    ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
  ScrollSideways();
  app.Name("files", ImGui::GetWindowPos(),
           {ImGui::GetWindowPos().x + width, ImGui::GetWindowPos().y + ImGui::GetFrameHeight()});
  ShowFiles(app);
  if (ImGui::Button("+", {ImGui::GetFrameHeight(), 0})) AskForFile(app);
  app.NameLastItem("open");
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("Open a file (Ctrl+O)");
  ImGui::EndChild();
  ImGui::PopStyleColor();
}

// A small picture of the window with one part filled: shows the part, or folds it.
void ShowPartSwitch(App& app, const char* name, bool right, bool& shown, const char* why) {
  const float side = ImGui::GetFrameHeight();
  const ImVec2 at = ImGui::GetCursorScreenPos();
  if (ImGui::InvisibleButton(name, {side, side})) shown = !shown;
  app.NameLastItem(name);
  const ImU32 ink = ImGui::IsItemHovered() ? look().colors.text : look().colors.dim;
  if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", why);
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImVec2 min = {at.x + side * 0.2f, at.y + side * 0.25f};
  const ImVec2 max = {at.x + side * 0.8f, at.y + side * 0.75f};
  const ImVec2 from =
      right ? ImVec2{min.x + (max.x - min.x) * 0.62f, min.y} : ImVec2{min.x, min.y + (max.y - min.y) * 0.58f};
  list.AddRect(min, max, ink, 1);
  if (shown) list.AddRectFilled(from, max, ink, 1);
  ImGui::SameLine(0, Em(0.1f));
}

void ShowDevices(App& app) {
  Session& session = app.session;
  const auto& devices = session.document()->devices;
  if (devices.size() < 2) {
    ImGui::TextDisabled("%s", session.device()->title.c_str());
  } else {
    ImGui::SetNextItemWidth(Em(13));
    if (ImGui::BeginCombo("##device", session.device()->title.c_str())) {
      for (size_t i = 0; i < devices.size(); ++i) {
        const std::string text = fmt::format("{}, peak {}##{}", devices[i]->title,
                                             text::FormatBytes(devices[i]->curve.peak().bytes), i);
        if (ImGui::Selectable(text.c_str(), i == session.place.device)) session.ShowDevice(i);
      }
      ImGui::EndCombo();
    }
    app.NameLastItem("device");
  }
  ImGui::SameLine();
}

std::string Summary(const Session& session) {
  const Document& document = *session.document();
  const timeline::Training& training = document.training(*session.device());
  return fmt::format("peak {}  ·  {}  ·  {}  ·  {}", text::FormatBytes(session.device()->curve.peak().bytes),
                     text::FormatCount(training.steps().size(), "step"),
                     text::FormatCount(document.run->event_count(), "event"),
                     TimeText(*document.run, document.run->times.last_ns()));
}

void ShowBanner(const Session& session) {
  const std::string text = session.Warning();
  if (text.empty()) return;
  ImGui::PushStyleColor(ImGuiCol_Text, look().colors.warning);
  ImGui::TextUnformatted(
      FitText(look().fonts.text, text::OneLine(text), ImGui::GetContentRegionAvail().x).c_str());
  ImGui::PopStyleColor();
}

// The device and what it holds, or why there is none. `reserved`: room at the right that others need.
void ShowWhatIsOpen(App& app, float reserved) {
  const Session& session = app.session;
  if (session.device() != nullptr) {
    ShowDevices(app);
    const float room = ImGui::GetContentRegionAvail().x - reserved;
    ImGui::TextUnformatted(FitText(look().fonts.text, Summary(session), room).c_str());
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", Summary(session).c_str());
    return app.NameLastItem("summary");
  }
  const OpenFile* file = session.file();
  const bool ready = file != nullptr && (file->document != nullptr || !file->job->error().empty());
  ImGui::TextDisabled("%s", file == nullptr ? "no file is open" : ready ? "nothing to show" : "opening");
}

}  // namespace

void ShowTopBar(App& app) {
  Session& session = app.session;
  if (ArrowButton(app, "back", ImGuiDir_Left, session.can_go_back())) session.Back();
  ImGui::SameLine(0, Em(0.2f));
  if (ArrowButton(app, "forward", ImGuiDir_Right, session.can_go_forward())) session.Forward();
  ImGui::SameLine();
  const float buttons = Em(9.4f) + 2 * (ImGui::GetFrameHeight() + Em(0.1f));
  const float room = ImGui::GetContentRegionAvail().x - buttons;
  const bool narrow = room < Em(24);                          // the summary of the file goes below
  const bool own_line = narrow && FileTabsWidth(app) > room;  // and so do the files
  if (!own_line) {
    ShowFileTabs(app, narrow ? room : room * 0.6f);
    ImGui::SameLine();
  }
  if (!narrow) ShowWhatIsOpen(app, buttons);
  ImGui::SameLine(RightEdge() - buttons);
  ShowPartSwitch(app, "fold.details", true, app.layout.details, "Show or hide the details (I)");
  ShowPartSwitch(app, "fold.table", false, app.layout.table, "Show or hide the table (L)");
  if (ImGui::Button(app.layout.dark ? "Light" : "Dark", {Em(4.4f), 0})) {
    app.layout.dark = !app.layout.dark;
    app.look_changed = true;
  }
  app.NameLastItem("theme");
  ImGui::SameLine();
  if (ImGui::Button("Help", {Em(4.2f), 0})) app.show_help = !app.show_help;
  app.NameLastItem("help");
  if (own_line) ShowFileTabs(app, ImGui::GetContentRegionAvail().x);
  if (narrow) ShowWhatIsOpen(app, 0);
  ShowBanner(session);
}

}  // namespace vramscope::viewer
