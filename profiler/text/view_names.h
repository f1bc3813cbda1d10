// SPDX-License-Identifier: Apache-2.0
// The viewer's views by the names that people write: `vramscope view --view leaks`, links, scripts.
//
// The command lists them in its help and does not contain the viewer.
#pragma once

#include <array>
#include <string>

namespace vramscope::text {

// In the order of the tabs.
inline constexpr std::array kViewNames = {"summary",      "timeline",      "owners", "map",
                                          "address-time", "fragmentation", "oom",    "leaks",
                                          "compare",      "whatif",        "ranks"};

// "summary, timeline, ... or ranks"
inline std::string ListOfViews() {
  std::string list = kViewNames.front();
  for (size_t i = 1; i < kViewNames.size(); ++i)
    list += (i + 1 < kViewNames.size() ? ", " : " or ") + std::string(kViewNames[i]);
  return list;
}

}  // namespace vramscope::text
