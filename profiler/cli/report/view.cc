// SPDX-License-Identifier: Apache-2.0
// `vramscope view`: executes the desktop program next to it, which parses the arguments itself.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "profiler/cli/frame/verb.h"
#include "profiler/cli/report/remote_file.h"
#include "profiler/cli/report/serve.h"
#include "profiler/cli/report/viewer_file.h"
#include "profiler/collector/launch/installation.h"
#include "profiler/text/view_names.h"

namespace vramscope::cli {

const VerbHelp& ViewHelp() {
  static const std::string of_view = "Open this view: " + text::ListOfViews() + ".";
  static const VerbHelp help = {
      "view",
      "see a run: memory over time, every block at every moment",
      "view [options] FILE...",
      {{"vramscope view run.vms", "open a window; F1 lists the keys"},
       {"vramscope view --screenshot peak.png --goto step:3,peak run.vms",
        "write a picture, without a display"},
       {"vramscope view ssh://host/path/run.vms", "fetch the trace with ssh, and follow it while it grows"},
       {"vramscope view --save run.html run.vms", "write the viewer with the run in it as one HTML file"}},
      {{"view", '\0', "NAME", of_view.c_str()},
       {"goto", '\0', "PLACE",
        "Go to peak, oom, end, step:3, step:3,peak, or nanoseconds from the start. Or name the place after "
        "the file: run.vms@peak."},
       {"theme", '\0', "dark|light", "Default: dark."},
       {"scale", '\0', "2",
        "Scale of text and controls. Default: the display's scale, or 1 without a display."},
       {"size", '\0', "1600x1000", "Size of the window, or of the picture before scaling."},
       {"font", '\0', "FILE", "Use this .ttf or .otf file instead of the installed fonts."},
       {"web", '\0', nullptr, "Open it in the browser instead of a window, as vramscope serve does."},
       {"save", '\0', "OUT", "Write the viewer and the files as one HTML file for any browser, and exit."},
       {"screenshot", '\0', "FILE", "Write a PNG file and exit; needs no display and no GPU."},
       {"script", '\0', "FILE", "Run commands without a display (docs/viewer.md)."},
       {"frame-times", '\0', "FILE", "With --script: write the times of opening and of each frame as JSON."},
       {"renderer", '\0', "auto|egl|software",
        "The renderer for pictures without a display. auto: EGL if it works, else software."}}};
  return help;
}

namespace {

// The folder of this executable, with '/' at its end; "" if unknown, so that PATH decides.
std::string ProgramFolder() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return "";
  const std::string program(path.data(), static_cast<size_t>(length));
  return program.substr(0, program.find_last_of('/') + 1);
}

Result<int> InBrowser(const Arguments& arguments, const Terminal&) {
  if (arguments.Has("save") && arguments.positionals().empty())
    return UsageError("--save needs a trace or snapshot: vramscope view --save run.html run.vms");
  if (arguments.Has("save")) return WriteViewerFile(arguments.Get("save"), arguments.positionals());
  Service service;
  service.open_browser = true;
  std::vector<std::string> paths = arguments.positionals();
  std::string place = arguments.Get("goto");
  for (std::string& path : paths) {  // "run.vms@step:3", unless a file has the whole name
    const size_t at = path.rfind('@');
    if (at == std::string::npos || access(path.c_str(), F_OK) == 0) continue;
    if (place.empty()) place = path.substr(at + 1);
    path.resize(at);
  }
  if (arguments.Has("view")) place += (place.empty() ? "peak,view:" : ",view:") + arguments.Get("view");
  if (!place.empty() && !paths.empty())
    service.fragment = paths.front().substr(paths.front().rfind('/') + 1) + "@" + place;
  return Serve(paths, service);
}

// True for an option with which the viewer opens no window.
bool IsWithoutWindow(const std::string& word) {
  for (const std::string_view option : {"--screenshot", "--script", "--frame-times"}) {
    if (word == option || (word.starts_with(option) && word[option.size()] == '=')) return true;
  }
  return false;
}

// True if files are given and there is no display. Then the user opens a link in a browser elsewhere.
bool OnlyABrowserCanShow(std::span<const std::string> words) {
  const auto set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const bool file = std::ranges::any_of(words, [](const std::string& word) { return word[0] != '-'; });
  return file && !set("DISPLAY") && !set("WAYLAND_DISPLAY") && !std::ranges::any_of(words, IsWithoutWindow) &&
         collector::FindWebViewer().ok();
}

int StartViewer(std::span<const std::string> words) {
  const std::string viewer = ProgramFolder() + "vramscope-viewer";
  std::vector<char*> arguments = {const_cast<char*>(viewer.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(viewer.c_str(), arguments.data());
  if (errno == ENOENT) {
    return Fail(
        {fmt::format("the viewer is not installed: there is no {}. docs/viewer.md lists what "
                     "is needed to build it. To see the run in a browser: vramscope serve FILE",
                     Printable(viewer))});
  }
  return Fail({fmt::format("{} cannot be started: {}.", Printable(viewer), std::strerror(errno))});
}

}  // namespace

int RunView(std::span<const std::string> words) {
  // Works even if the viewer is not installed.
  if (std::find(words.begin(), words.end(), "--help") != words.end())
    return RunParsed(ViewHelp(), Arguments::Parse(ViewHelp(), words),
                     [](const Arguments&, const Terminal&) -> Result<int> { return kDone; });
  if (std::ranges::any_of(words, IsRemote)) {
    const auto status = WithRemoteFiles({words.begin(), words.end()},
                                        [](const std::vector<std::string>& local) { return RunView(local); });
    return status.ok() ? *status : Fail(status.error());
  }
  if (std::ranges::any_of(words, [](const std::string& word) {
        return word == "--web" || word == "--save" || word.starts_with("--save=");
      }))
    return RunParsed(ViewHelp(), Arguments::Parse(ViewHelp(), words), InBrowser);
  if (OnlyABrowserCanShow(words))
    return RunParsed(ViewHelp(), Arguments::Parse(ViewHelp(), words), InBrowser);
  return StartViewer(words);
}

}  // namespace vramscope::cli
