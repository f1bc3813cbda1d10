// SPDX-License-Identifier: Apache-2.0
// A saved table becomes a download: the page offers files that are written to /downloads (worker.js).
#include "viewer/model/table_file.h"

#include <fmt/format.h>

#include "viewer/model/notes.h"
#include "viewer/model/small_file.h"

namespace vramscope::viewer {

// The page keeps files that are written to /state.
std::string NotesPath(const std::string& trace) {
  return "/state/notes/" + trace.substr(trace.rfind('/') + 1);
}

Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment, std::string_view csv) {
  return SaveNamed(trace, fmt::format("live-{}", moment), "csv", csv);
}

Result<std::string> SaveNamed(const std::string& trace, std::string_view what, std::string_view extension,
                              std::string_view bytes) {
  const std::string name = trace.substr(trace.rfind('/') + 1);
  const std::string file = fmt::format("{}.{}.{}", name.substr(0, name.rfind('.')), what, extension);
  if (!WriteSmallFile("/downloads/" + file, bytes)) return Error{file + ": cannot be saved."};
  return file;
}

}  // namespace vramscope::viewer
