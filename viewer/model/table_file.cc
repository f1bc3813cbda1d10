// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/table_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include "profiler/collector/output/new_file.h"
#include "viewer/model/notes.h"

namespace vramscope::viewer {
namespace {

// The path without the extension of the file's name.
std::string Stem(const std::string& path) {
  const size_t name = path.rfind('/') + 1;  // npos + 1 = 0
  const size_t dot = path.rfind('.');
  return dot == std::string::npos || dot <= name ? path : path.substr(0, dot);
}

}  // namespace

std::string NotesPath(const std::string& trace) { return trace + ".notes.json"; }

Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment, std::string_view csv) {
  return SaveNamed(trace, fmt::format("live-{}", moment), "csv", csv);
}

Result<std::string> SaveNamed(const std::string& trace, std::string_view what, std::string_view extension,
                              std::string_view bytes) {
  const std::string stem = fmt::format("{}.{}", Stem(trace), what);
  std::string path = fmt::format("{}.{}", stem, extension);
  for (int number = 2; access(path.c_str(), F_OK) == 0; ++number)
    path = fmt::format("{}-{}.{}", stem, number, extension);
  auto file = VRAMSCOPE_TRY(collector::NewFile::Create(path, {trace}));
  VRAMSCOPE_TRY(file.Write(bytes));
  VRAMSCOPE_TRY(file.Commit());
  return path;
}

}  // namespace vramscope::viewer
