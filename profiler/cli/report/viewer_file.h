// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

// Writes the viewer with these traces and snapshots as one HTML file (html/viewer_page.h). Each is checked
// first. Returns the exit code.
Result<int> WriteViewerFile(const std::string& out, const std::vector<std::string>& paths);

}  // namespace vramscope::cli
