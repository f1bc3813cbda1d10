// SPDX-License-Identifier: Apache-2.0
// The ranks of a job as one HTML file, with the look and the safety of the report's page (page.h).
//
// Why it takes the JSON text of `vramscope fleet`: every number in the page then equals the terminal's by
// construction, as in diff_page.h.
#pragma once

#include <string>

namespace vramscope::html {

struct FleetContent {
  std::string document;  // fleet::PageJson()
  std::string headline;  // the terminal's first line
  std::string title;
  std::string version;  // of vramscope
};

[[nodiscard]] std::string MakeFleetPage(const FleetContent& content);

}  // namespace vramscope::html
