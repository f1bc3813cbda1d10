// SPDX-License-Identifier: Apache-2.0
// The answer of `vramscope check` as text: a line for each rule, a comment for a pull request, and a report
// that build servers read.
#pragma once

#include <string>
#include <vector>

#include "profiler/check/judge.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

struct Checked {
  std::string path;
  std::string baseline;                 // its path; "" = none
  std::vector<report::Answer> devices;  // that were judged, the one that a report would speak of first
  std::vector<check::Verdict> verdicts;
};

[[nodiscard]] std::string CheckScreen(const Checked& checked, const Terminal& terminal);
[[nodiscard]] std::string CheckMarkdown(const Checked& checked);
// One <testsuite> with a <testcase> for each rule; what could not be judged is an <error>. The form that
// Jenkins publishes (https://github.com/testmoapp/junitxml).
[[nodiscard]] std::string CheckJUnit(const Checked& checked);

}  // namespace vramscope::cli
