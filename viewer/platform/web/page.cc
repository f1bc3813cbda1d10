// SPDX-License-Identifier: Apache-2.0
// The viewer as a module of a web page: the functions that worker.js calls. The counterpart of
// viewer/main.cc.
//
//   page.js (DOM, input) ── messages ──► worker.js ── the functions below ──► App
//                        ◄── pictures ──           ◄── host.h ──
//
// While a file is read, frames are drawn from within: the page shows the progress, and input waits.
#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "profiler/text/format.h"
#include "profiler/text/harmless.h"
#include "viewer/model/session_link.h"
#include "viewer/model/small_file.h"
#include "viewer/panels/app.h"
#include "viewer/panels/redraw.h"
#include "viewer/platform/web/host.h"
#include "viewer/platform/web/page_surface.h"
#include "viewer/platform/web/tasks.h"
#include "viewer/script/headless.h"
#include "viewer/script/script.h"

#define VRAMSCOPE_PAGE(name) __attribute__((export_name(#name))) name

namespace vramscope::web {
namespace {

using viewer::App;
using viewer::Session;

constexpr const char* kLayout = "/state/layout";  // kept by the page
constexpr double kBetweenFrames = 0.05;           // while a file is read

double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Page {
 public:
  Page(int width, int height, float scale, bool dark) : app_([this] { Woken(); }) {
    ImGui::CreateContext();
    ImGuiIO& io = ImGui::GetIO();
    io.IniFilename = nullptr;
    ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
    platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
      const std::string_view all = text;
      host_copy(all.data(), all.size());
    };
    platform.Platform_GetClipboardTextFn = [](ImGuiContext*) -> const char* {
      return static_cast<Page*>(ImGui::GetPlatformIO().Platform_ClipboardUserData)->pasted_.c_str();
    };
    platform.Platform_ClipboardUserData = this;
    io.BackendFlags |= ImGuiBackendFlags_HasMouseCursors;
    io.MousePos = {-1e6f, -1e6f};
    io.ConfigInputTrickleEventQueue = false;  // worker.js gives each press a frame
    UseWebRenderer();
    fonts_ = viewer::LoadFonts("");
    app_.UseLayout(kLayout, viewer::ReadSmallFile(kLayout) ? std::nullopt : std::optional(dark));
    app_.layout_kept = app_.layout;  // the system's theme is not the user's choice: not saved
    app_.renderer = "WebGL2";
    app_.choose_files = [] { host_choose(); };
    app_.open_link = [](const std::string& link) { host_open(link.data(), link.size()); };
    text::UseThreeDigits();
    app_.scale = scale;
    Resize(width, height, scale);
  }

  App& app() { return app_; }

  void Resize(int width, int height, float scale) {
    ImGui::GetIO().DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    if (scale != app_.scale) app_.look_changed = true;
    app_.scale = scale;
    happened_ = true;
  }
  void Happened() { happened_ = true; }
  void Paste(const std::string& text) { pasted_ = text; }
  void GoTo(const std::string& place) {
    place_ = place;
    happened_ = true;
  }

  // Draws if something may have changed, then does one piece of waiting work. Returns the time until the next
  // call in milliseconds; -1: when there is input.
  int Tick() {
    const bool drawn = redraw_.Wanted(app_, happened_ || AnyTask());
    happened_ = false;
    if (drawn) Frame();
    working_ = true;
    const bool worked = RunOne();
    working_ = false;
    if (worked) happened_ = true;
    if (drawn || worked) return 0;
    const bool follows = std::any_of(app_.session.files().begin(), app_.session.files().end(),
                                     [](const auto& file) { return file->document && !file->job->closed(); });
    return follows ? 500 : -1;
  }

  void Frame() {
    if (in_frame_) return;
    in_frame_ = true;
    UseLook();
    const double now = Now();
    ImGuiIO& io = ImGui::GetIO();
    io.DeltaTime = std::clamp(static_cast<float>(now - drawn_at_), 0.001f, 0.1f);
    drawn_at_ = now;
    ImGui::NewFrame();
    viewer::ShowFrame(app_);
    ImGui::Render();
    DrawOnPage(*ImGui::GetDrawData());
    viewer::SavePicture(app_);
    app_.keys.Clear();
    Tell();
    in_frame_ = false;
  }

 private:
  void UseLook() {
    if (app_.look_changed) viewer::UseLook(fonts_, app_.layout.dark, app_.text_scale());
    app_.look_changed = false;
  }

  // Called when a task has something new.
  void Woken() {
    happened_ = true;
    if (working_ && Now() >= drawn_at_ + kBetweenFrames) Frame();
  }

  // Updates what the page shows around the picture.
  void Tell() {
    Session& session = app_.session;
    if (!place_.empty() && session.device() != nullptr) {
      const Status went = session.GoTo(place_);
      session.message = went.ok() ? "" : went.error().sentence;
      place_.clear();
    }
    const std::string title =
        session.file() == nullptr ? "vramscope" : text::OneLine(session.file()->name()) + " · vramscope";
    if (title != title_) host_title(title.data(), title.size());
    title_ = title;
    const std::string link = place_.empty() ? LinkTo(session) : link_;
    if (link != link_) host_place(link.data(), link.size());
    link_ = link;
    if (const int cursor = ImGui::GetMouseCursor(); cursor != cursor_) host_cursor(cursor_ = cursor);
    if (const int wanted = ImGui::GetIO().WantTextInput; wanted != text_wanted_)
      host_text_wanted(text_wanted_ = wanted);
  }

  App app_;
  viewer::Fonts fonts_;
  viewer::Redraw redraw_;
  bool happened_ = true;
  bool in_frame_ = false;
  bool working_ = false;
  double drawn_at_ = 0;
  std::string pasted_;
  std::string place_;  // to go to, once a file is open
  std::string title_;
  std::string link_;
  int cursor_ = -2;
  int text_wanted_ = 0;
};

std::unique_ptr<Page>& ThePage() {
  static std::unique_ptr<Page> page;
  return page;
}

// Texts from and to the page.
std::string& Text() {
  static std::string text;
  return text;
}

}  // namespace
}  // namespace vramscope::web

using vramscope::web::Text;
using vramscope::web::ThePage;

extern "C" {

// Returns a buffer for a text of that many bytes. The next function with a text reads it from there.
char* VRAMSCOPE_PAGE(text_room)(size_t bytes) {
  Text().assign(bytes, '\0');
  return Text().data();
}
const char* VRAMSCOPE_PAGE(text_begin)() { return Text().data(); }
size_t VRAMSCOPE_PAGE(text_bytes)() { return Text().size(); }

void VRAMSCOPE_PAGE(start)(int width, int height, float scale, int dark) {
  ThePage() = std::make_unique<vramscope::web::Page>(width, height, scale, dark != 0);
}
int VRAMSCOPE_PAGE(tick)() { return ThePage()->Tick(); }
void VRAMSCOPE_PAGE(resize)(int width, int height, float scale) { ThePage()->Resize(width, height, scale); }
void VRAMSCOPE_PAGE(open_file)() {
  ThePage()->app().session.Open(Text());
  ThePage()->Happened();
}
void VRAMSCOPE_PAGE(go_to)() { ThePage()->GoTo(Text()); }
void VRAMSCOPE_PAGE(paste)() { ThePage()->Paste(Text()); }
void VRAMSCOPE_PAGE(use_theme)(int dark) {
  ThePage()->app().layout.dark = dark != 0;
  ThePage()->app().look_changed = true;
  ThePage()->Happened();
}

void VRAMSCOPE_PAGE(pointer)(float x, float y) {
  ImGui::GetIO().AddMousePosEvent(x, y);
  ThePage()->Happened();
}
void VRAMSCOPE_PAGE(button)(int button, int down) {
  ImGui::GetIO().AddMouseButtonEvent(button, down != 0);
  ThePage()->Happened();
}
void VRAMSCOPE_PAGE(wheel)(float x, float y) {
  ImGui::GetIO().AddMouseWheelEvent(x, y);
  ThePage()->Happened();
}
// `code`: viewer::Key. `modifiers`: 1 Ctrl, 2 Shift, 4 Alt.
void VRAMSCOPE_PAGE(key)(int code, int modifiers, int down) {
  const vramscope::viewer::KeyPress press = {static_cast<vramscope::viewer::Key>(code), (modifiers & 1) != 0,
                                             (modifiers & 2) != 0, (modifiers & 4) != 0};
  if (down != 0) ThePage()->app().keys.Push(press);
  vramscope::viewer::FeedKey(press, down != 0);
  ImGuiIO& io = ImGui::GetIO();
  io.AddKeyEvent(ImGuiMod_Ctrl, press.ctrl);  // with the wheel and the mouse too
  io.AddKeyEvent(ImGuiMod_Shift, press.shift);
  io.AddKeyEvent(ImGuiMod_Alt, press.alt);
  ThePage()->Happened();
}
void VRAMSCOPE_PAGE(character)(unsigned code) {
  ImGui::GetIO().AddInputCharacter(code);
  ThePage()->Happened();
}

// For tests: what `state` of a script writes.
void VRAMSCOPE_PAGE(state)() { Text() = vramscope::viewer::StateJson(ThePage()->app(), {}); }
// For tests, instead of start: runs the script (a text) as `vramscope view --script` does, with the files
// named in its first line. Leaves its error, or "". Also writes the output of --frame-times.
void VRAMSCOPE_PAGE(run_script)(int width, int height, float scale, int dark) {
  const size_t line = Text().find('\n');
  const std::string files = Text().substr(0, line);
  const std::string script = "/script";
  (void)vramscope::viewer::WriteSmallFile(script, Text().substr(line + 1));
  vramscope::text::UseThreeDigits();
  vramscope::viewer::FrameTimes times;
  vramscope::viewer::Headless viewer(
      {.width = width, .height = height, .scale = scale, .dark = dark != 0, .times = &times});
  vramscope::Status done = viewer.Begin();
  for (size_t at = 0; at < files.size();) {
    const size_t end = std::min(files.find('\t', at), files.size());
    viewer.app().session.Open(files.substr(at, end - at));
    at = end + 1;
  }
  if (!viewer.app().session.files().empty()) viewer.app().session.ShowFile(0);
  viewer.WaitUntilLoaded();
  if (done.ok()) done = vramscope::viewer::RunScript(script, viewer);
  (void)times.Write("/frame-times", viewer.app().session);
  Text() = done.ok() ? "" : done.error().sentence;
}
}
