// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that people send each other: it holds its data, style and script, loads
// nothing, and works from a file.
//
//   <script type="application/json" id="report">    the document of `vramscope report --json`, names cut
//   <script type="application/json" id="picture">   what a terminal cannot show: timeline, map, flame graphs
//   <style>, <script>                               assets/, embedded by the build
//
// Why the page draws from the report's own JSON: every number in it then equals the terminal's by
// construction. Why a policy names the hashes of style and script: names come from the recorded program.
// Whatever they contain, a browser only applies that style and runs that script. The script sets texts only,
// never markup.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/answer.h"

namespace vramscope::html {

// Upper limit for every page, whatever a run contains.
inline constexpr size_t kMostBytes = 3'000'000;

struct Content {
  const classify::Analysis& analysis;
  const report::Answer& answer;                     // of this analysis
  const fragmentation::Subject* subject = nullptr;  // of the answer's device, with a layout; null = unknown
  std::string title;                                // the file's name
  std::string version;                              // of vramscope
};

// Never fails: unknown parts have no section. O(events).
[[nodiscard]] std::string MakePage(const Content& content);

}  // namespace vramscope::html
