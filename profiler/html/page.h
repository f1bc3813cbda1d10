// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that can be mailed. It loads nothing and works without a server.
//
//   <script type="application/json" id="report">    the document of `vramscope report --json`, cut (fit.h)
//   <script type="application/json" id="picture">   data for timeline, map and flame graphs
//   <style>, <script>                               assets/, embedded by the build
//
// Security: recorded names may contain markup. The page's policy allows only its own style and script, by
// their hashes. The script sets only texts, never markup.
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
  const fragmentation::Subject* subject = nullptr;  // of the answer's device; null = unknown
  std::string title;                                // file name of the recording
  std::string version;                              // of vramscope
};

// Sections without data are left out. Never fails. O(events).
[[nodiscard]] std::string MakePage(const Content& content);

}  // namespace vramscope::html
