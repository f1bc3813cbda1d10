// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that people send each other: it holds its data, style and script, loads
// nothing, and works from a file.
//
//   <script type="application/json" id="report">    the document of `vramscope report --json`, names cut
//   <script type="application/json" id="picture">   what a terminal cannot show: timeline, map, flame graphs
//   <style>, <script>                               assets/, embedded by the build
//
// Why the page draws from the report's own JSON: a number in it is then the terminal's by construction. Why a
// policy names the hashes of style and script: names come from the recorded program, and whatever they hold,
// a browser runs nothing but these two texts. The script sets texts only, never markup.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/answer.h"

namespace vramscope::html {

// No page is larger, whatever a run holds.
inline constexpr size_t kMostBytes = 3'000'000;

struct Content {
  const classify::Analysis& analysis;
  const report::Answer& answer;                     // of this analysis
  const fragmentation::Subject* subject = nullptr;  // of the answer's device, with a layout; null = not known
  std::string title;                                // the file's name
  std::string version;                              // of vramscope
};

// Never fails: what is not known has no section. O(events).
[[nodiscard]] std::string MakePage(const Content& content);

}  // namespace vramscope::html
