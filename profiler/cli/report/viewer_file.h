// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

// Writes one HTML file with the viewer and these traces and snapshots (html/viewer_page.h). Checks the files
// first. Returns the exit code.
Result<int> WriteViewerFile(const std::string& out, const std::vector<std::string>& paths);

}  // namespace vramscope::cli
