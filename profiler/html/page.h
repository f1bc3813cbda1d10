// SPDX-License-Identifier: Apache-2.0
// The report as one HTML file that can be mailed. It contains its data, style and script, loads nothing, and
// works without a server.
//
//   <script type="application/json" id="report">    the document of `vramscope report --json`, names cut
//   <script type="application/json" id="picture">   data for timeline, map and flame graphs
//   <style>, <script>                               assets/, embedded by the build
//
// Why the page uses the report's own JSON: every number in it is then the terminal's own. Why a policy
// contains the hashes of style and script: names come from the recorded program and may contain markup. With
// the policy, a browser applies only this style and runs only this script. The script sets only texts, never
// markup.
#pragma once

#include <cstddef>
#include <string>

#include "profiler/classify/analysis.h"
#include "profiler/fragmentation/subject.h"
#include "profiler/report/answer.h"

namespace vramscope::html {

// Upper limit for the size of every page, whatever a run contains.
inline constexpr size_t kMostBytes = 3'000'000;

struct Content {
  const classify::Analysis& analysis;
  const report::Answer& answer;                     // of this analysis
  const fragmentation::Subject* subject = nullptr;  // of the answer's device, with a layout; null = unknown
  std::string title;                                // the name of the recording's file
  std::string version;                              // of vramscope
};

// The text of the page. Never fails: sections without data are left out. O(events).
[[nodiscard]] std::string MakePage(const Content& content);

}  // namespace vramscope::html
