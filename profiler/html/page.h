// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that can be sent by mail. The page loads no other files and works without a
// server.
//
//   <script type="application/json" id="report">    the document of `vramscope report --json`, cut (fit.h)
//   <script type="application/json" id="picture">   data for timeline, map and flame graphs
//   <style>, <script>                               assets/, embedded by the build
//
// Recorded names may contain HTML markup. To be safe, the page's Content-Security-Policy allows only the
// page's own style sheet and scripts, by their hashes. The scripts write names only as text, never as markup.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/answer.h"

namespace vramscope::html {

// Upper limit for the size of every page.
inline constexpr size_t kMostBytes = 3'000'000;

struct Content {
  const classify::Analysis& analysis;
  const report::Answer& answer;
  const fragmentation::Subject* subject = nullptr;  // subject of the answer's device; null = unknown
  std::string title;                                // file name of the recording
  std::string version;                              // version of vramscope
};

// Returns the HTML text. Sections without data are left out. Never fails. O(events).
[[nodiscard]] std::string MakePage(const Content& content);

}  // namespace vramscope::html
