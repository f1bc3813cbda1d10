// SPDX-License-Identifier: Apache-2.0
// The viewer and its traces in one HTML file that can be mailed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::html {

struct EmbeddedFile {
  std::string name;  // as the viewer shows it
  std::string bytes;
};

// `viewer`: text of viewer.html from scripts/web.sh. Each file is compressed (gzip) and written as base64.
// Fails if `viewer` has no place for files, or if memory runs out.
[[nodiscard]] Result<std::string> MakeViewerPage(std::string_view viewer,
                                                 const std::vector<EmbeddedFile>& files);

}  // namespace vramscope::html
