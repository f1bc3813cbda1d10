// SPDX-License-Identifier: Apache-2.0
// Every key and its action: one table, used to show the help and to handle the keys. Versions below it.
#include <fmt/format.h>

#include <algorithm>

#include "profiler/model/coverage.h"
#include "profiler/text/format.h"
#include "viewer/model/session_link.h"
#include "viewer/panels/app.h"

namespace vramscope::viewer {
namespace {

struct Binding {
  const char* keys;  // as scripts and people write them, separated by spaces; the first two are shown
  const char* meaning;
  void (*act)(App& app);
};

void PanBy(App& app, double widths) { app.session.place.window.PanBy(widths); }
void ZoomBy(App& app, double factor) {
  TimeView& view = app.session.place.window;
  const double moment = app.session.MomentTime();
  const bool visible = moment >= view.begin() && moment <= view.end();
  view.Zoom(factor, app.hover_ns.value_or(visible ? moment : (view.begin() + view.end()) / 2));
}
void GoTo(App& app, const char* text) {
  const Status went = app.session.GoTo(text);
  app.session.message = went.ok() ? "" : went.error().sentence;
}
void ScaleText(App& app, float factor) {
  app.layout.text_size = std::clamp(app.layout.text_size * factor, kSmallestText, kLargestText);
  app.look_changed = true;
}

const Binding kBindings[] = {
    {"a left", "earlier", [](App& app) { PanBy(app, -0.2); }},
    {"d right", "later", [](App& app) { PanBy(app, 0.2); }},
    {"w + up =", "zoom in at the mouse, or at the moment", [](App& app) { ZoomBy(app, 1.5); }},
    {"s - down", "zoom out", [](App& app) { ZoomBy(app, 1 / 1.5); }},
    {"home 0", "the whole run",
     [](App& app) {
       app.session.Remember();
       app.session.place.window.Fit();
     }},
    {"x", "what the x axis counts: time, events or steps", NextTimeAxis},
    {"y", "the whole memory axis (Ctrl+wheel zooms it)",
     [](App& app) {
       app.session.Remember();
       app.session.place.memory = {};
     }},
    {"z", "zoom into the selection",
     [](App& app) {
       const auto& range = app.session.place.range;
       if (!range) return;
       app.session.Remember();
       app.session.place.window.Show(range->begin_ns, range->end_ns);
     }},
    {", <", "one event back", [](App& app) { app.session.StepMoment(-1); }},
    {". >", "one event forward", [](App& app) { app.session.StepMoment(1); }},
    {"[ pageup", "peak of the previous training step", [](App& app) { app.session.StepTraining(-1); }},
    {"] pagedown", "peak of the next training step", [](App& app) { app.session.StepTraining(1); }},
    {"space", "play or pause",
     [](App& app) { app.session.playing() ? app.session.Pause() : app.session.Play(); }},
    {"{ shift+[", "play ten times slower", [](App& app) { app.session.ChangeSpeed(-1); }},
    {"} shift+]", "play ten times faster", [](App& app) { app.session.ChangeSpeed(1); }},
    {"p", "to the peak", [](App& app) { GoTo(app, "peak"); }},
    {"o", "to where it ran out of memory", [](App& app) { GoTo(app, "oom"); }},
    {"end", "to the end", [](App& app) { GoTo(app, "end"); }},
    {"backspace alt+left", "back to the previous place", [](App& app) { app.session.Back(); }},
    {"shift+backspace alt+right", "forward again", [](App& app) { app.session.Forward(); }},
    {"u", "owners: out by one level",
     [](App& app) {
       if (!app.owners.zoom().empty()) app.owners.ZoomOut(app.owners.zoom().size() - 1);
     }},
    {"ctrl+f /", "filter the listed blocks", [](App& app) { app.focus_filter = app.layout.table = true; }},
    {"ctrl+shift+f", "search all blocks that ever lived",
     [](App& app) {
       app.session.table_shows = Session::TableShows::kRun;
       app.focus_filter = app.layout.table = true;
     }},
    {"e", "list the events, or the blocks again",
     [](App& app) {
       using Shows = Session::TableShows;
       Shows& shows = app.session.table_shows;
       shows = shows == Shows::kEvents ? Shows::kByRange : Shows::kEvents;
       app.layout.table = true;
     }},
    {"b", "write a note at this moment", AskForNote},
    {"ctrl+l", "copy a link to this moment (--goto opens it)",
     [](App& app) {
       ImGui::SetClipboardText(LinkTo(app.session).c_str());
       app.Say("link copied");
     }},
    {"ctrl+o", "open a file", AskForFile},
    {"ctrl+w", "close the file that is shown",
     [](App& app) {
       if (app.session.file() != nullptr) app.CloseFile(app.session.place.file);
     }},
    {"ctrl+q", "close the window", [](App& app) { app.quit = true; }},
    {"m", "the summary", [](App& app) { GoToView(app, Tab::kSummary); }},
    {"1", "the timeline; 2 to 9: the views after it", [](App& app) { GoToView(app, Tab::kTimeline); }},
    {"j", "the ranks of a job", [](App& app) { GoToView(app, Tab::kRanks); }},
    {"i", "show or hide the details", [](App& app) { app.layout.details = !app.layout.details; }},
    {"l", "show or hide the table", [](App& app) { app.layout.table = !app.layout.table; }},
    {"ctrl+c", "copy what the view shows, as a table", CopyViewTable},
    {"ctrl+s", "save a picture of the view as PNG", [](App& app) { app.picture = PictureKind::kPng; }},
    {"ctrl+shift+s", "save a picture of the view as SVG", [](App& app) { app.picture = PictureKind::kSvg; }},
    {"c", "color blocks by another property: age, size, stream, ...",
     [](App& app) { app.session.Color(NextColoring(app.session.coloring)); }},
    {"n", "mark the blocks that pin free memory on the address map",
     [](App& app) { app.show_pins = !app.show_pins; }},
    {"r", "ranges below the timeline: a few, all, none",
     [](App& app) { app.lane_rows = static_cast<LaneRowsShown>((static_cast<int>(app.lane_rows) + 1) % 3); }},
    {"t", "dark or light",
     [](App& app) {
       app.layout.dark = !app.layout.dark;
       app.look_changed = true;
     }},
    {"ctrl+= ctrl+shift+=", "larger text", [](App& app) { ScaleText(app, 1.1f); }},
    {"ctrl+-", "smaller text", [](App& app) { ScaleText(app, 1 / 1.1f); }},
    {"ctrl+0", "text at the display's scale", [](App& app) { ScaleText(app, 1 / app.layout.text_size); }},
    {"escape", "clear the selection, close this help",
     [](App& app) {
       if (app.show_help || app.show_open) {
         app.show_help = app.show_open = false;
         return;
       }
       app.session.place.range.reset();
       app.session.place.block = model::kNone;
     }},
    {"f1 ?", "this help", [](App& app) { app.show_help = !app.show_help; }},
};

std::vector<std::string> Words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const size_t space = text.find(' ');
    words.emplace_back(text.substr(0, space));
    text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
  }
  return words;
}

}  // namespace

bool BeginOverlay(const char* title, bool& open) {
  const ImGuiIO& io = ImGui::GetIO();
  ImGui::SetNextWindowPos({io.DisplaySize.x / 2, io.DisplaySize.y / 2}, ImGuiCond_Always, {0.5f, 0.5f});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, look().colors.raised);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {Em(1.2f), Em(1)});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, Em(0.4f));
  const bool shown = ImGui::Begin(title, &open,
                                  ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_AlwaysAutoResize |
                                      ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoMove);
  ImGui::PopStyleVar(2);
  ImGui::PopStyleColor();
  return shown;
}

namespace {

// All keys and what the mouse does, in two columns where the window is wide enough.
void ShowKeys() {
  constexpr float kTwoColumns = 66;  // text heights
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Binding& binding : kBindings) {
    const std::vector<std::string> words = Words(binding.keys);
    rows.emplace_back(words.size() > 1 ? words[0] + "  " + words[1] : words[0], binding.meaning);
  }
  rows.emplace_back("wheel", "zoom at the mouse; with shift: earlier, later");
  rows.emplace_back("ctrl+wheel", "zoom into addresses over time");
  rows.emplace_back("drag", "select a range; with the right button: move");
  rows.emplace_back("click", "set the moment for all views; in owners: zoom in");
  rows.emplace_back("double click", "the whole run");
  const size_t columns = ImGui::GetIO().DisplaySize.x >= Em(kTwoColumns) ? 2 : 1;
  const size_t lines = (rows.size() + columns - 1) / columns;
  ImGui::PushStyleVar(ImGuiStyleVar_CellPadding, {ImGui::GetStyle().CellPadding.x, Em(0.07f)});
  const bool open = ImGui::BeginTable("keys", static_cast<int>(2 * columns), ImGuiTableFlags_SizingFixedFit);
  for (size_t i = 0; open && i < lines * columns; ++i) {
    const size_t row = i / columns + i % columns * lines;
    ImGui::TableNextColumn();
    if (row < rows.size()) {
      PushFont(look().fonts.mono);
      ImGui::TextUnformatted(rows[row].first.c_str());
      ImGui::PopFont();
    }
    ImGui::TableNextColumn();
    if (row < rows.size()) ShowWrapped(rows[row].second);
  }
  if (open) ImGui::EndTable();
  ImGui::PopStyleVar();
}

// Versions, the renderer, and how much of the program the recorder saw.
void ShowAbout(const App& app) {
  ImGui::Dummy({0, Em(0.3f)});
  ShowHeading("vramscope " VRAMSCOPE_VERSION);
  const auto fact = [](const char* label, const std::string& text) {
    ImGui::TextDisabled("%s", label);
    ImGui::SameLine(Em(7.2f));
    ShowWrapped(text);
  };
  fact("Drawn by", fmt::format("Dear ImGui {}, {}", IMGUI_VERSION, app.renderer));
  fact("Fonts", look().fonts.names.empty() ? "those inside Dear ImGui" : look().fonts.names);
  if (app.session.document() == nullptr) return;
  const std::vector<model::Hook> hooks = model::HooksOf(app.session.document()->run->coverage);
  if (hooks.empty()) return fact("Recorded", "this file does not record what was hooked");
  fact("Recorded", fmt::format("{} of {} in place; vramscope info lists them",
                               std::ranges::count_if(hooks, &model::Hook::in_place),
                               text::FormatCount(hooks.size(), "hook")));
}

}  // namespace

void HandleKeys(App& app) {
  const bool typing = ImGui::GetIO().WantTextInput;
  for (const Binding& binding : kBindings) {
    for (const std::string& name : Words(binding.keys)) {
      KeyPress press;
      if (!KeyFromName(name, press)) continue;
      const bool plain = !press.ctrl && press.key < Key::kEscape;
      if (typing && (plain || press.key != Key::kEscape)) continue;
      // Characters that are typed with Shift on most keyboards.
      const bool with_shift =
          name == "{" || name == "}" || name == "?" || name == "+" || name == "<" || name == ">";
      // Each press acts, even if several came within one frame.
      while (app.keys.Take(press.key, press.ctrl, press.shift, press.alt) ||
             (with_shift && app.keys.Take(press.key, false, true))) {
        binding.act(app);
      }
    }
  }
  for (char digit = '2'; digit <= '9' && !typing; ++digit) {
    if (app.keys.Take(digit)) GoToView(app, static_cast<Tab>(digit - '0'));  // in the order of the tabs
  }
  if (!typing && (app.keys.Take('/', false, true)))
    app.show_help = !app.show_help;                                    // '?' on an American keyboard
  if (!typing && (app.keys.Take('=', false, true))) ZoomBy(app, 1.5);  // '+' there
  app.keys.Clear();
}

void ShowHelp(App& app) {
  if (BeginOverlay("Help", app.show_help)) {
    ShowHeading("Keys");
    ShowKeys();
    ShowAbout(app);
  }
  ImGui::End();
}

}  // namespace vramscope::viewer
