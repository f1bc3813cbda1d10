// SPDX-License-Identifier: Apache-2.0
// Saves a list of blocks, or a picture, as a file in the trace's folder.
#pragma once

#include <string>
#include <string_view>

#include "profiler/model/ids.h"
#include "trace_format/result.h"

namespace vramscope::viewer {

// The file that was saved last, and what it contains.
struct SavedTable {
  std::string path;  // "" = nothing was saved yet
  std::string trace;
  model::EventIndex moment = 0;
  std::string filter;
};

// Writes "run.live-4711.csv" into the folder of run.vms. If this file exists, writes "run.live-4711-2.csv",
// and so on; never overwrites a file. Returns the path.
[[nodiscard]] Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment,
                                             std::string_view csv);
// Saves other data in the same way. With `what` = "owners-4711" and `extension` = "png", the file is
// "run.owners-4711.png".
[[nodiscard]] Result<std::string> SaveNamed(const std::string& trace, std::string_view what,
                                            std::string_view extension, std::string_view bytes);

}  // namespace vramscope::viewer
