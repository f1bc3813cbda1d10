// SPDX-License-Identifier: Apache-2.0
// `vramscope serve`: the viewer in a browser, with the files of this machine.
#include "profiler/cli/report/serve.h"

#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "profiler/cli/frame/verb.h"
#include "profiler/collector/launch/installation.h"
#include "profiler/serve/server.h"
#include "profiler/text/number.h"

extern char** environ;

namespace vramscope::cli {

const VerbHelp& ServeHelp() {
  static const VerbHelp help = {
      "serve",
      "show runs of this machine in a browser, also over ssh",
      "serve [options] FOLDER|FILE...",
      {{"vramscope serve runs", "serve all traces and snapshots in a folder; prints the link to open"},
       {"vramscope serve --port 8764 run.vms", "use this port, for a tunnel that is already open"}},
      {{"port", '\0', "N", "Listen on this port. Default: any free one."},
       {"bind", '\0', "ADDRESS",
        "Listen on this IP address instead of 127.0.0.1, so that other machines reach it. Needs --token. "
        "Nothing is encrypted: prefer a tunnel over ssh."},
       {"token", '\0', "WORD",
        "Use this word in the link instead of a random one: at least 16 letters, digits, '-' or '_'."}}};
  return help;
}

namespace {

Result<uint16_t> PortFrom(const Arguments& arguments) {
  if (!arguments.Has("port")) return uint16_t{0};
  const std::string text = arguments.Get("port");
  const uint16_t port = text::ParseNumber<uint16_t>(text).value_or(0);
  if (port == 0)
    return UsageError(fmt::format("--port must be a number from 1 to 65535, not '{}'.", Printable(text)));
  return port;
}

// The value of --token, "" = not given. Fails if it is too easy to guess or needs escapes in a link.
Result<std::string> TokenFrom(const Arguments& arguments) {
  constexpr size_t kLeast = 16;
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  const std::string token = arguments.Get("token");
  if (!arguments.Has("token")) return token;
  if (token.size() < kLeast || token.find_first_not_of(kLetters) != std::string::npos)
    return UsageError(fmt::format(
        "--token must have at least {} letters, digits, '-' or '_'. Leave it out for a random one.", kLeast));
  return token;
}

Result<std::string> AddressFrom(const Arguments& arguments) {
  const std::string address = arguments.Get("bind", serve::kLoopback);
  const auto loopback = serve::IsLoopback(address);
  if (!loopback)
    return UsageError(
        fmt::format("--bind must be an IP address, such as 0.0.0.0, not '{}'.", Printable(address)));
  if (!*loopback && !arguments.Has("token"))
    return UsageError(
        "--bind to an address that other machines reach needs --token, and nothing is encrypted. A tunnel "
        "over ssh needs no --token and is encrypted: serve prints the command for the tunnel.");
  return address;
}

std::string HostName() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "HOST";
}

Result<int> ServeVerb(const Arguments& arguments, const Terminal&) {
  Service service;
  service.port = VRAMSCOPE_TRY(PortFrom(arguments));
  service.address = VRAMSCOPE_TRY(AddressFrom(arguments));
  service.token = VRAMSCOPE_TRY(TokenFrom(arguments));
  return Serve(arguments.positionals(), service);
}

}  // namespace

void OpenOnDesktop(const std::string& link) {
  const std::string program = "xdg-open";
  std::array<char*, 3> words = {const_cast<char*>(program.c_str()), const_cast<char*>(link.c_str()), nullptr};
  pid_t child = 0;
  if (std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr)
    (void)posix_spawnp(&child, program.c_str(), nullptr, nullptr, words.data(), environ);
}

Result<int> Serve(const std::vector<std::string>& paths, const Service& service) {
  if (paths.empty()) return UsageError("serve needs a folder or files: vramscope serve runs");
  for (const std::string& path : paths) {
    if (access(path.c_str(), R_OK) != 0)
      return Error{fmt::format("{}: cannot be read. Check the path.", Printable(path))};
  }
  const std::string folder = VRAMSCOPE_TRY(collector::FindWebViewer());
  const serve::Site site(service.token.empty() ? serve::NewToken() : service.token, folder, paths);
  const bool here = serve::IsLoopback(service.address).value_or(true);
  const bool any = service.address == "0.0.0.0" || service.address == "::";
  const std::string host = any                                              ? Printable(HostName())
                           : service.address.find(':') != std::string::npos ? "[" + service.address + "]"
                                                                            : service.address;
  const auto ready = [&](uint16_t on) {
    const std::string link = fmt::format("http://{}:{}/{}/{}", host, on, site.token(),
                                         service.fragment.empty() ? "" : "#" + service.fragment);
    const std::string tunnel = fmt::format(
        "\n"
        "To see the runs from another machine, run this command there, then open the link in its browser:\n"
        "  ssh -L {0}:{1}:{0} {2}\n",
        on, host, Printable(HostName()));
    const std::string open = "\nOther machines can reach this server, and nothing is encrypted.\n";
    Print(fmt::format("{}\n{}\nEveryone who has the link can read {}. Ctrl-C ends it.\n", link,
                      here ? tunnel : open, paths.size() == 1 ? Printable(paths[0]) : "these files"));
    std::fflush(stdout);
    if (service.open_browser) OpenOnDesktop(link);
  };
  VRAMSCOPE_TRY(serve::ServeUntilSignal(site, service.address, service.port, ready));
  return kDone;
}

int RunServe(std::span<const std::string> words) {
  return RunParsed(ServeHelp(), Arguments::Parse(ServeHelp(), words), ServeVerb);
}

}  // namespace vramscope::cli
