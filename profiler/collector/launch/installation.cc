// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/installation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <vector>

#include "profiler/collector/target/process_facts.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

constexpr std::array kInjectorPlaces = {
    "../lib/vramscope/libvramscope_injector.so",
    "../" VRAMSCOPE_LIBRARY_FOLDER "/vramscope/libvramscope_injector.so",
    "../injector/libvramscope_injector.so",
};
constexpr std::array kShimPlaces = {"../share/vramscope/python/sitecustomize.py"};

// LD_PRELOAD and PYTHONPATH cannot contain a path that contains their separators.
bool CanBeListed(const std::string& path) { return path.find_first_of(": ;") == std::string::npos; }

template <size_t N>
Result<std::string> FirstOf(const std::array<const char*, N>& places, const std::string& folder,
                            const char* what) {
  std::vector<std::string> looked;
  for (const char* place : places) {
    const fs::path path = (fs::path(folder) / place).lexically_normal();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) {
      looked.push_back(path.string());
      continue;
    }
    if (CanBeListed(path.string())) return path.string();
    return Error{
        fmt::format("{}: vramscope cannot be in a folder with a space, colon or semicolon in its name. "
                    "Install vramscope elsewhere.",
                    path.string())};
  }
  return Error{fmt::format("The {} is missing; looked for {}. Build or install vramscope completely.", what,
                           fmt::join(looked, ", "))};
}

}  // namespace

Result<Installation> FindInstallationFor(const std::string& program_folder) {
  std::string injector =
      VRAMSCOPE_TRY(FirstOf(kInjectorPlaces, program_folder, "recorder library for LD_PRELOAD"));
  std::string shim = VRAMSCOPE_TRY(FirstOf(kShimPlaces, program_folder, "Python part for PYTHONPATH"));
  return Installation{injector, fs::path(shim).parent_path().string()};
}

Result<Installation> FindInstallation() {
  const std::string program = ExecutableOf(static_cast<uint32_t>(getpid()));
  return FindInstallationFor(fs::path(program).parent_path().string());
}

Result<std::string> FindWebViewer() {
  const fs::path program = ExecutableOf(static_cast<uint32_t>(getpid()));
  const fs::path folder = (program.parent_path() / "../share/vramscope/web").lexically_normal();
  std::error_code ignored;
  if (fs::exists(folder / "index.html", ignored)) return folder.string();
  return Error{
      fmt::format("the viewer for browsers is not installed: there is no {}. It is built by "
                  "scripts/web.sh, before vramscope is installed (docs/viewer.md).",
                  folder.string())};
}

}  // namespace vramscope::collector
