// SPDX-License-Identifier: Apache-2.0
// Saves the listed blocks, or a picture, as a file in the trace's folder.
#pragma once

#include <string>
#include <string_view>

#include "profiler/model/ids.h"
#include "trace_format/result.h"

namespace vramscope::viewer {

// The last saved table, and its source.
struct SavedTable {
  std::string path;  // "" = nothing yet
  std::string trace;
  model::EventIndex moment = 0;
  std::string filter;
};

// Writes "run.live-4711.csv" in the folder of run.vms, or "run.live-4711-2.csv": never overwrites a file.
// Returns the path.
[[nodiscard]] Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment,
                                             std::string_view csv);
// Saves anything else: "run.owners-4711.png" for `what` = "owners-4711" and `extension` = "png".
[[nodiscard]] Result<std::string> SaveNamed(const std::string& trace, std::string_view what,
                                            std::string_view extension, std::string_view bytes);

}  // namespace vramscope::viewer
