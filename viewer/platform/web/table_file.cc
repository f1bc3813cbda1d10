// SPDX-License-Identifier: Apache-2.0
// A table that is saved becomes a download: the page offers what is written to /downloads (wasi.js).
#include "viewer/model/table_file.h"

#include <fmt/format.h>

#include "viewer/model/small_file.h"

namespace vramscope::viewer {

Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment, std::string_view csv) {
  const std::string name = trace.substr(trace.rfind('/') + 1);
  const std::string file = fmt::format("{}.live-{}.csv", name.substr(0, name.rfind('.')), moment);
  if (!WriteSmallFile("/downloads/" + file, csv)) return Error{file + ": cannot be saved."};
  return file;
}

}  // namespace vramscope::viewer
