// SPDX-License-Identifier: Apache-2.0
// `vramscope serve`: the viewer in a browser, with the files of this machine.
#include "profiler/cli/report/serve.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/installation.h"
#include "profiler/serve/server.h"

extern char** environ;

namespace vramscope::cli {

const VerbHelp& ServeHelp() {
  static const VerbHelp help = {
      "serve",
      "show runs of this machine in a browser, also over ssh",
      "serve [options] FOLDER|FILE...",
      {{"vramscope serve runs", "offer all traces and snapshots in a folder; prints the link to open"},
       {"vramscope serve --port 8764 run.vms", "use this port, for a tunnel that is already open"}},
      {{"port", '\0', "N", "Listen on this port of the loopback interface. Default: any free one."}}};
  return help;
}

namespace {

Result<uint16_t> PortFrom(const Arguments& arguments) {
  if (!arguments.Has("port")) return uint16_t{0};
  const std::string text = arguments.Get("port");
  uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failed != std::errc() || end != text.data() + text.size() || port == 0)
    return UsageError(fmt::format("--port must be a number from 1 to 65535, not '{}'.", Printable(text)));
  return port;
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "HOST";
}

// Nothing happens if there is no desktop.
void OpenBrowser(const std::string& link) {
  const std::string program = "xdg-open";
  std::array<char*, 3> words = {const_cast<char*>(program.c_str()), const_cast<char*>(link.c_str()), nullptr};
  pid_t child = 0;
  if (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr)
    (void)posix_spawnp(&child, program.c_str(), nullptr, nullptr, words.data(), environ);
}

Result<int> ServeVerb(const Arguments& arguments, const Terminal&) {
  const uint16_t port = VRAMSCOPE_TRY(PortFrom(arguments));
  return Serve(arguments.positionals(), port, false);
}

}  // namespace

Result<int> Serve(const std::vector<std::string>& paths, uint16_t port, bool open_browser) {
  if (paths.empty()) return UsageError("serve needs a folder or files: vramscope serve runs");
  for (const std::string& path : paths) {
    if (access(path.c_str(), R_OK) != 0)
      return Error{fmt::format("{}: cannot be read. Check the path.", Printable(path))};
  }
  const std::string folder = VRAMSCOPE_TRY(collector::FindWebViewer());
  const serve::Site site(serve::NewToken(), folder, paths);
  const auto ready = [&](uint16_t on) {
    const std::string link = fmt::format("http://127.0.0.1:{}/{}/", on, site.token());
    Print(fmt::format(
        "{0}\n\nFrom another machine, run this there, then open the link in its browser:\n"
        "  ssh -L {1}:127.0.0.1:{1} {2}\n\nWhoever has the link can read {3}. Ctrl-C ends it.\n",
        link, on, Printable(HostName()), paths.size() == 1 ? Printable(paths[0]) : "these files"));
    std::fflush(stdout);
    if (open_browser) OpenBrowser(link);
  };
  VRAMSCOPE_TRY(serve::ServeUntilSignal(site, port, ready));
  return kDone;
}

int RunServe(std::span<const std::string> words) {
  return RunParsed(ServeHelp(), Arguments::Parse(ServeHelp(), words), ServeVerb);
}

}  // namespace vramscope::cli
