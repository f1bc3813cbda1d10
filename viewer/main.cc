// SPDX-License-Identifier: Apache-2.0
// vramscope-viewer: the desktop program; `vramscope view` starts it.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "profiler/cli/frame/arguments.h"
#include "profiler/cli/frame/terminal.h"
#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/serve.h"
#include "profiler/collector/output/output_place.h"
#include "profiler/text/failure.h"
#include "profiler/text/format.h"
#include "profiler/text/view_names.h"
#include "viewer/model/recent_files.h"
#include "viewer/panels/app.h"
#include "viewer/panels/redraw.h"
#include "viewer/platform/window.h"
#include "viewer/script/headless.h"
#include "viewer/script/script.h"

namespace vramscope::viewer {
namespace {

constexpr int kBadInput = 2;

int Fail(const std::string& sentence) {
  std::fputs(fmt::format("vramscope: {}\n", text::OneLine(sentence)).c_str(), stderr);
  return kBadInput;
}

// "run.vms@step:3,peak": the file, and the place after the last @, unless a file of the whole name exists.
void SplitLocator(std::string& path, std::string& place) {
  const size_t at = path.rfind('@');
  if (at == std::string::npos || access(path.c_str(), F_OK) == 0) return;
  place = path.substr(at + 1);
  path.resize(at);
}

struct Start {
  std::vector<std::string> paths;
  std::string place;
  std::optional<Tab> tab;
  std::optional<bool> dark;  // when a theme was asked for
  HeadlessOptions look;
};

Result<Start> StartFrom(const cli::Arguments& arguments) {
  Start start;
  for (std::string path : arguments.positionals()) {
    SplitLocator(path, start.place);
    start.paths.push_back(path);
  }
  start.place = arguments.Get("goto", start.place);
  if (arguments.Has("view")) {
    start.tab = TabFromKey(arguments.Get("view"));
    if (!start.tab)
      return Error{fmt::format("--view must be {}, not \"{}\".", text::ListOfViews(),
                               text::OneLine(arguments.Get("view")))};
  }
  const std::string theme = arguments.Get("theme", "dark");
  if (theme != "dark" && theme != "light") return Error{"--theme must be dark or light."};
  start.look.dark = theme == "dark";
  if (arguments.Has("theme")) start.dark = start.look.dark;
  start.look.font = arguments.Get("font");
  if (arguments.Has("scale")) {
    start.look.scale = std::strtof(arguments.Get("scale").c_str(), nullptr);
    if (!(start.look.scale >= 0.5f && start.look.scale <= 4))
      return Error{"--scale must be a number from 0.5 to 4."};
  }
  if (arguments.Has("size") &&
      (std::sscanf(arguments.Get("size").c_str(), "%dx%d", &start.look.width, &start.look.height) != 2 ||
       start.look.width < 200 || start.look.height < 150 || start.look.width > 16384 ||
       start.look.height > 16384)) {
    return Error{"--size must be like 1600x1000, from 200x150 to 16384x16384."};
  }
  const std::string renderer = arguments.Get("renderer", "auto");
  if (renderer != "auto" && renderer != "egl" && renderer != "software")
    return Error{"--renderer must be auto, egl or software."};
  start.look.renderer = renderer == "egl"        ? Renderer::kEgl
                        : renderer == "software" ? Renderer::kSoftware
                                                 : Renderer::kAuto;
  return start;
}

void OpenAll(Session& session, const Start& start) {
  for (const std::string& path : start.paths) session.Open(path);
  if (start.tab) session.place.tab = *start.tab;
  session.tab_chosen = start.tab.has_value();
  if (!start.paths.empty()) session.ShowFile(0);
}

int RunWithoutWindow(Start start, const cli::Arguments& arguments) {
  std::optional<FrameTimes> times;
  if (arguments.Has("frame-times")) start.look.times = &times.emplace();
  Headless viewer(start.look);
  const Status began = viewer.Begin();
  if (!began.ok()) return Fail(began.error().sentence);
  Session& session = viewer.app().session;
  if (arguments.Has("script")) {  // a picture alone writes no state files
    viewer.app().recent_list = RecentFilesPath();
    viewer.app().UseLayout(LayoutPath(), start.dark);
  }
  OpenAll(session, start);
  viewer.WaitUntilLoaded();
  if (!arguments.Has("script")) {
    for (const auto& file : session.files()) {
      if (const std::string error = file->job->error(); !error.empty()) return Fail(error);
    }
  }
  if (!start.place.empty()) {
    const Status went = session.GoTo(start.place);
    if (!went.ok()) return Fail(went.error().sentence);
  }
  Status done;
  if (arguments.Has("script")) done = RunScript(arguments.Get("script"), viewer);
  if (done.ok() && times) done = times->Write(arguments.Get("frame-times"), session);
  if (done.ok() && arguments.Has("screenshot")) done = viewer.Shot(arguments.Get("screenshot"));
  return done.ok() ? EXIT_SUCCESS : Fail(done.error().sentence);
}

// "run.vms · step 3, backward, event 4711 · vramscope"
std::string Title(const Session& session) {
  if (session.file() == nullptr) return "vramscope";
  std::string where;
  if (session.device() != nullptr) {
    where = fmt::format(" · {}, event {}", session.MomentText(), session.place.moment);
  }
  return text::OneLine(session.file()->name()) + where + " · vramscope";
}

int RunWindow(const Start& start, const cli::Arguments& arguments) {
  ImGui::CreateContext();
  ImGui::GetIO().IniFilename = nullptr;
  int code = EXIT_SUCCESS;
  {
    App app([] { Window::Wake(); });
    auto opened = Window::Open(start.look.width, start.look.height, app.keys);
    if (!opened.ok()) {
      code = Fail(opened.error().sentence);
    } else {
      Window& window = **opened;
      app.UseLayout(LayoutPath(), start.dark);
      app.recent_list = RecentFilesPath();
      app.open_link = cli::OpenOnDesktop;
      app.scale = arguments.Has("scale") ? start.look.scale : window.display_scale();
      app.renderer = window.renderer();
      UseLook(LoadFonts(start.look.font), app.layout.dark, app.text_scale());
      app.look_changed = false;
      OpenAll(app.session, start);
      std::string place = start.place;
      std::string title;
      Redraw redraw;
      while (!window.closing() && !app.quit) {
        const bool happened = window.Wait(redraw.owed()           ? 0.001
                                          : app.session.playing() ? 0.005
                                          : app.session.loading() ? 0.03
                                                                  : 0.25);
        if (!redraw.Wanted(app, happened)) continue;
        if (app.look_changed) UseLook(look().fonts, app.layout.dark, app.text_scale());
        app.look_changed = false;
        for (const std::string& path : window.TakeDroppedFiles()) app.session.Open(path);
        window.BeginFrame();
        ImGui::NewFrame();
        ShowFrame(app);
        ImGui::Render();
        SavePicture(app);
        window.EndFrame();
        if (const std::string now = Title(app.session); now != title) window.SetTitle(title = now);
        if (!place.empty() && app.session.device() != nullptr) {
          const Status went = app.session.GoTo(place);
          app.session.message = went.ok() ? "" : went.error().sentence;
          place.clear();
        }
      }
    }
  }  // the window is destroyed before ImGui's context
  ImGui::DestroyContext();
  return code;
}

int Run(const std::vector<std::string>& words) {
  const auto arguments = cli::Arguments::Parse(cli::ViewHelp(), words);
  if (!arguments.ok()) return Fail(arguments.error().sentence);
  const auto color = cli::ParseColorMode(arguments->Get("color", "auto"));
  if (!color.ok()) return Fail(color.error().sentence);
  if (arguments->help_wanted()) {
    cli::Print(cli::HelpText(cli::ViewHelp(), cli::Terminal::For(STDOUT_FILENO, *color)));
    return EXIT_SUCCESS;
  }
  text::UseThreeDigits();
  const Result<Start> start = StartFrom(*arguments);
  if (!start.ok()) return Fail(start.error().sentence);
  const bool headless = arguments->Has("screenshot") || arguments->Has("script");
  if (arguments->Has("frame-times") && !arguments->Has("script"))
    return Fail("--frame-times needs --script.");
  std::vector<std::string> inputs = start->paths;
  inputs.push_back(arguments->Get("script"));
  for (const char* output : {"screenshot", "frame-times"}) {
    if (const Status other = collector::CheckIsNoInput(arguments->Get(output), inputs); !other.ok())
      return Fail(other.error().sentence);
  }
  return headless ? RunWithoutWindow(*start, *arguments) : RunWindow(*start, *arguments);
}

}  // namespace
}  // namespace vramscope::viewer

int main(int count, char** words) {
  try {
    return vramscope::viewer::Run({words + 1, words + count});
  } catch (const std::exception& failure) {
    return vramscope::viewer::Fail(vramscope::text::SentenceOf(failure, "view"));
  }
}
