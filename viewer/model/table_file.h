// SPDX-License-Identifier: Apache-2.0
// The listed blocks as a file beside the trace that they are from: for a spreadsheet, or to send along.
#pragma once

#include <string>
#include <string_view>

#include "profiler/model/ids.h"
#include "trace_format/result.h"

namespace vramscope::viewer {

// What was saved last, and of what.
struct SavedTable {
  std::string path;  // "" = nothing yet
  std::string trace;
  model::EventIndex moment = 0;
  std::string filter;
};

// Writes "run.live-4711.csv" beside run.vms, or "run.live-4711-2.csv" where that is there already: no file is
// written over. Returns the path.
[[nodiscard]] Result<std::string> SaveBeside(const std::string& trace, model::EventIndex moment,
                                             std::string_view csv);

}  // namespace vramscope::viewer
