// SPDX-License-Identifier: Apache-2.0
// Asks for a file: a path that is typed, or what its folder holds. A browser has its own dialog instead.
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "profiler/text/harmless.h"
#include "viewer/model/folder_listing.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostEntries = 2000;
constexpr size_t kMostPath = 4096;

// The folder of the file that is shown, so that its neighbors are one click away.
std::string FolderToBeginIn(const App& app) {
  const OpenFile* file = app.session.file();
  if (file == nullptr) return "";
  const std::string& path = file->job->path();
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

bool IsFile(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && !S_ISDIR(facts.st_mode);
}

void OpenAndClose(App& app, const std::string& path) {
  app.session.Open(path);
  app.open_path.clear();
  app.show_open = false;
}

}  // namespace

void ShowOpen(App& app) {
  ImGui::SetNextWindowSize({std::min(Em(46), ImGui::GetIO().DisplaySize.x), 0});
  if (BeginOverlay("Open", app.show_open)) {
    ShowHeading("Open a trace or a snapshot");
    if (app.focus_open && app.open_path.empty()) app.open_path = FolderToBeginIn(app);
    if (app.focus_open) ImGui::SetKeyboardFocusHere();
    app.focus_open = false;
    char text[kMostPath];
    std::strncpy(text, app.open_path.c_str(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    const bool entered = ImGui::InputTextWithHint("##path", "run.vms", text, sizeof text,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    app.open_path = text;
    app.NameLastItem("open.path");
    const std::vector<FolderEntry> entries = EntriesFor(app.open_path, kMostEntries);
    const float room = std::max(ImGui::GetIO().DisplaySize.y * 0.5f, Em(6));
    ImGui::BeginChild("entries", {0, std::min(room, Em(24))});
    for (size_t i = 0; i < entries.size(); ++i) {
      ImGui::PushID(static_cast<int>(i));
      const std::string name = text::OneLine(entries[i].name);
      ImGui::PushStyleColor(ImGuiCol_Text, entries[i].folder ? look().colors.dim : look().colors.text);
      const bool chosen = ImGui::Selectable(name.c_str());
      ImGui::PopStyleColor();
      app.NameLastItem("open." + name);
      ImGui::PopID();
      if (chosen && entries[i].folder) {
        app.open_path = entries[i].path;
        app.focus_open = true;
      } else if (chosen) {
        OpenAndClose(app, entries[i].path);
      }
    }
    if (entries.empty())
      ImGui::TextDisabled("No folder, trace or snapshot has a name that begins like this.");
    ImGui::EndChild();
    if (entered && IsFile(app.open_path)) OpenAndClose(app, app.open_path);
  }
  ImGui::End();
}

}  // namespace vramscope::viewer
