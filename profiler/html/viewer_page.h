// SPDX-License-Identifier: Apache-2.0
// The whole viewer and a trace in one HTML file, to mail: what scripts/web.sh has built as viewer.html, with
// the files put in.
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

// `viewer`: the text of viewer.html. Each file is compressed (gzip) and written as base64. Fails if `viewer`
// is not such a page, or if there is not enough memory to compress.
[[nodiscard]] Result<std::string> MakeViewerPage(std::string_view viewer,
                                                 const std::vector<EmbeddedFile>& files);

}  // namespace vramscope::html
