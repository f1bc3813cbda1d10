// SPDX-License-Identifier: Apache-2.0
// The viewer and its traces in one HTML file that can be mailed: the viewer.html that scripts/web.sh builds,
// with the files inserted.
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

// `viewer` is the text of viewer.html. Each file is compressed (gzip) and written as base64. Fails if
// `viewer` has no place for files, or if there is not enough memory to compress.
[[nodiscard]] Result<std::string> MakeViewerPage(std::string_view viewer,
                                                 const std::vector<EmbeddedFile>& files);

}  // namespace vramscope::html
