// SPDX-License-Identifier: Apache-2.0
// Notes at moments: flags over the timeline, a list among the details, and a field to write one.
#include <algorithm>
#include <cstring>

#include "profiler/text/harmless.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kMostTyped = 1024;

void KeepNote(App& app) {
  OpenFile& file = *app.session.file();
  file.notes.Set(static_cast<uint64_t>(app.note_at_ns), *app.note_text);
  const Status kept = file.notes.Write(file.job->path());
  app.session.message = kept.ok() ? "" : kept.error().sentence;
  app.note_text.reset();
}

void GoToNote(App& app, const Note& note) {
  app.session.Remember();
  app.session.SetMomentAt(static_cast<double>(note.at_ns));
  app.session.place.window.Reveal(static_cast<double>(note.at_ns));
}

}  // namespace

void AskForNote(App& app) {
  if (app.session.device() == nullptr) return;
  app.note_at_ns = app.session.MomentTime();
  const Note* there = app.session.file()->notes.At(static_cast<uint64_t>(app.note_at_ns));
  app.note_text = there == nullptr ? "" : there->text;
  app.focus_note = app.layout.details = true;
}

void DrawNotes(App& app, ImVec2 min, ImVec2 max) {
  const TimeView& view = app.session.place.window;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const ImU32 color = look().colors.accent;
  const auto& notes = app.session.file()->notes.all();
  for (size_t i = 0; i < notes.size(); ++i) {
    const double share = view.PlaceOf(static_cast<double>(notes[i].at_ns));
    if (share < 0 || share > 1) continue;
    const float x = min.x + static_cast<float>(share) * (max.x - min.x);
    list.AddRectFilled({x, min.y}, {x + 1, max.y}, WithAlpha(color, 0.5f));
    const ImVec2 flag_min = {x, min.y};
    const ImVec2 flag_max = {x + Em(0.9f), min.y + Em(0.7f)};
    list.AddTriangleFilled(flag_min, {flag_max.x, (flag_min.y + flag_max.y) / 2}, {x, flag_max.y}, color);
    app.Name("note.flag." + std::to_string(i), flag_min, flag_max);
    if (ImGui::IsMouseHoveringRect(flag_min, flag_max))
      ImGui::SetTooltip("%s", text::OneLine(notes[i].text).c_str());
  }
}

void ShowNotes(App& app) {
  OpenFile& file = *app.session.file();
  const std::vector<Note> notes = file.notes.all();
  if (notes.empty() && !app.note_text) {
    if (ImGui::SmallButton("Note")) AskForNote(app);
    app.NameLastItem("note.add");
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("Write a note at this moment (B)");
    return;
  }
  ImGui::Dummy({0, Em(0.3f)});
  ShowHeading("Notes");
  ImGui::SameLine();
  if (ImGui::SmallButton("Add")) AskForNote(app);
  app.NameLastItem("note.add");
  if (app.note_text) {
    char text[kMostTyped];
    std::strncpy(text, app.note_text->c_str(), sizeof text - 1);
    text[sizeof text - 1] = '\0';
    if (app.focus_note) ImGui::SetKeyboardFocusHere();
    ImGui::SetNextItemWidth(ImGui::GetContentRegionAvail().x);
    const bool entered = ImGui::InputTextWithHint("##note", "Note; press Enter to save", text, sizeof text,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    app.NameLastItem("note.text");
    app.note_text = text;
    const bool left = !app.focus_note && ImGui::IsItemDeactivated();
    app.focus_note = false;
    if (entered || (left && !app.note_text->empty()))
      KeepNote(app);
    else if (left)
      app.note_text.reset();
  }
  for (size_t i = 0; i < notes.size(); ++i) {
    ImGui::PushID(static_cast<int>(i));
    const std::string when = TimeText(*app.session.document()->run, notes[i].at_ns);
    const float cross = Em(1.4f);
    const std::string line = FitText(look().fonts.text, when + "  " + text::OneLine(notes[i].text),
                                     ImGui::GetContentRegionAvail().x - cross);
    if (ImGui::Selectable(line.c_str(), false, 0, {ImGui::GetContentRegionAvail().x - cross, 0}))
      GoToNote(app, notes[i]);
    app.NameLastItem("note." + std::to_string(i));
    if (ImGui::IsItemHovered()) ImGui::SetTooltip("%s", text::OneLine(notes[i].text).c_str());
    ImGui::SameLine();
    if (ImGui::SmallButton("x")) {
      file.notes.Set(notes[i].at_ns, "");
      const Status kept = file.notes.Write(file.job->path());
      app.session.message = kept.ok() ? "" : kept.error().sentence;
    }
    app.NameLastItem("note.remove." + std::to_string(i));
    ImGui::PopID();
  }
}

}  // namespace vramscope::viewer
