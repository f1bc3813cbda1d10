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

void ShowLiveMark(App& app, size_t file) {
  ImGui::SameLine(0, Em(0.2f));
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float middle = at.y + ImGui::GetFrameHeight() / 2;
  ImGui::GetWindowDrawList()->AddCircleFilled({at.x + Em(0.35f), middle}, Em(0.25f), look().colors.accent);
  DrawText(*ImGui::GetWindowDrawList(), look().fonts.small,
           {at.x + Em(0.8f), middle - look().fonts.small->FontSize / 2}, look().colors.accent, "live");
  ImGui::Dummy({Em(0.8f) + TextSize(look().fonts.small, "live").x, ImGui::GetFrameHeight()});
  app.NameLastItem(fmt::format("live.{}", file));
  if (ImGui::IsItemHovered())
    ImGui::SetTooltip("The file is still being written; new events appear as they arrive.");
}

void ShowFiles(App& app) {
  Session& session = app.session;
  size_t closed = session.files().size();
  for (size_t i = 0; i < session.files().size(); ++i) {
    const bool active = session.place.file == i;
    ImGui::PushID(static_cast<int>(i));
    ImGui::PushStyleColor(ImGuiCol_Text, active ? look().colors.text : look().colors.dim);
    ImGui::PushStyleColor(ImGuiCol_Button, active ? look().colors.raised : IM_COL32(0, 0, 0, 0));
    const std::string name = FitText(look().fonts.text, text::OneLine(session.files()[i]->name()), Em(16));
    if (ImGui::Button(name.c_str()) && !active) session.ShowFile(i);
    app.NameLastItem(fmt::format("file.{}", i));
    if (ImGui::IsItemHovered())
      ImGui::SetTooltip("%s\nMiddle click closes it.", session.files()[i]->job->path().c_str());
    if (ImGui::IsItemHovered() && ImGui::IsMouseClicked(ImGuiMouseButton_Middle)) closed = i;
    ImGui::PopStyleColor(2);
    ImGui::PopID();
    if (session.files()[i]->live()) ShowLiveMark(app, i);
    ImGui::SameLine();
  }
  if (closed < session.files().size()) app.CloseFile(closed);
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

}  // namespace

void ShowTopBar(App& app) {
  Session& session = app.session;
  if (ArrowButton(app, "back", ImGuiDir_Left, session.can_go_back())) session.Back();
  ImGui::SameLine(0, Em(0.2f));
  if (ArrowButton(app, "forward", ImGuiDir_Right, session.can_go_forward())) session.Forward();
  ImGui::SameLine();
  ShowFiles(app);
  const float buttons = Em(9.2f);
  if (session.device() != nullptr) {
    ShowDevices(app);
    const std::string summary = Summary(session);
    ImGui::TextUnformatted(
        FitText(look().fonts.text, summary, ImGui::GetContentRegionAvail().x - buttons).c_str());
    app.NameLastItem("summary");
  } else {
    ImGui::TextDisabled(session.files().empty() ? "no file is open" : "opening");
  }
  ImGui::SameLine(ImGui::GetWindowContentRegionMax().x - buttons);
  if (ImGui::Button(app.layout.dark ? "Light" : "Dark", {Em(4.4f), 0})) {
    app.layout.dark = !app.layout.dark;
    app.look_changed = true;
  }
  app.NameLastItem("theme");
  ImGui::SameLine();
  if (ImGui::Button("Help", {Em(4.2f), 0})) app.show_help = !app.show_help;
  app.NameLastItem("help");
  ShowBanner(session);
}

}  // namespace vramscope::viewer
