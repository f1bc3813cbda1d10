// SPDX-License-Identifier: Apache-2.0
// Creates one HTML file that contains the viewer and traces. The file can be sent by mail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace_format/result.h"

namespace vramscope::html {

struct EmbeddedFile {
  std::string name;  // name that the viewer shows
  std::string bytes;
};

// Returns the text of the file. `viewer` is the text of viewer.html from scripts/web.sh. Each trace is
// compressed with gzip and encoded as base64. Fails if `viewer` has no placeholder for files, or if memory
// runs out.
[[nodiscard]] Result<std::string> MakeViewerPage(std::string_view viewer,
                                                 const std::vector<EmbeddedFile>& files);

}  // namespace vramscope::html
