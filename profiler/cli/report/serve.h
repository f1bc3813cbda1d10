// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::cli {

// Serves the viewer with these files and folders until Ctrl-C; prints the link. `port` 0: any. Returns the
// exit code.
Result<int> Serve(const std::vector<std::string>& paths, uint16_t port, bool open_browser);

}  // namespace vramscope::cli
