// SPDX-License-Identifier: Apache-2.0
// The names of the viewer's views, as people write them in `vramscope view --view leaks`, in links and in
// scripts.
//
// The names are in this file because the command lists them in its help, but does not contain the viewer's
// code.
#pragma once

#include <array>
#include <string>

namespace vramscope::text {

// In the order of the viewer's tabs.
inline constexpr std::array kViewNames = {"summary",      "timeline",      "owners", "map",
                                          "address-time", "fragmentation", "oom",    "leaks",
                                          "compare",      "whatif",        "ranks"};

// Returns "summary, timeline, ... or ranks".
inline std::string ListOfViews() {
  std::string list = kViewNames.front();
  for (size_t i = 1; i < kViewNames.size(); ++i)
    list += (i + 1 < kViewNames.size() ? ", " : " or ") + std::string(kViewNames[i]);
  return list;
}

}  // namespace vramscope::text
