// SPDX-License-Identifier: Apache-2.0
// Writes the viewer with recordings as one HTML file, for `vramscope report --html` and `vramscope view
// --save`.
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

// Writes the viewer and the traces and snapshots `paths` into the file `out` (html/viewer_page.h). Checks the
// files first. Returns the exit code.
Result<int> WriteViewerFile(const std::string& out, const std::vector<std::string>& paths);

}  // namespace vramscope::cli
