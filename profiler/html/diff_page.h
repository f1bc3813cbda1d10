// SPDX-License-Identifier: Apache-2.0
// A comparison of two runs as one HTML file, with the look and the safety of the report's page (page.h).
//
// Why it takes the JSON text of `vramscope diff --json`: every number in the page then equals the terminal's
// by construction. This folder also need not know how runs are compared.
#pragma once

#include <string>

namespace vramscope::html {

struct DiffContent {
  std::string document;  // of `vramscope diff --json`
  std::string headline;  // the terminal's first line
  std::string title;
  std::string version;  // of vramscope
};

// At most kMostBytes (page.h), whatever the runs contain.
[[nodiscard]] std::string MakeDiffPage(const DiffContent& content);

}  // namespace vramscope::html
