// SPDX-License-Identifier: Apache-2.0
// `vramscope view`: hands over to the desktop program beside it, which reads the arguments itself.
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "profiler/cli/verb.h"

namespace vramscope::cli {
namespace {

// The folder of this executable, with '/' at its end; "" when it cannot be told, so that PATH decides.
std::string ProgramFolder() {
  std::array<char, 4096> path;
  const ssize_t length = readlink("/proc/self/exe", path.data(), path.size());
  if (length <= 0) return "";
  const std::string program(path.data(), static_cast<size_t>(length));
  return program.substr(0, program.find_last_of('/') + 1);
}

}  // namespace

int RunView(std::span<const std::string> words) {
  const std::string viewer = ProgramFolder() + "vramscope-viewer";
  std::vector<char*> arguments = {const_cast<char*>(viewer.c_str())};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(viewer.c_str(), arguments.data());
  if (errno == ENOENT) {
    return Fail(
        fmt::format("the viewer is not installed: there is no {}. It is built where Dear ImGui and GLFW are "
                    "(docs/viewer.md); vramscope report and vramscope frag say the same in words.",
                    Printable(viewer)));
  }
  return Fail(fmt::format("{} cannot be started: {}.", Printable(viewer), std::strerror(errno)));
}

}  // namespace vramscope::cli
