// SPDX-License-Identifier: Apache-2.0
// The result of `vramscope check` as text for the terminal, as a comment for a pull request, and as a report
// for build servers.
#pragma once

#include <string>
#include <vector>

#include "profiler/check/judge.h"
#include "profiler/cli/frame/terminal.h"

namespace vramscope::cli {

struct Checked {
  std::string path;
  std::string baseline;                 // path of the baseline; "" = none
  std::vector<report::Answer> devices;  // the device that `vramscope report` chooses is first
  std::vector<check::Verdict> verdicts;
};

[[nodiscard]] std::string CheckScreen(const Checked& checked, const Terminal& terminal);
[[nodiscard]] std::string CheckMarkdown(const Checked& checked);
// Returns a JUnit report: one <testsuite> with a <testcase> per rule. A rule that could not be judged has an
// <error>. Format: https://github.com/testmoapp/junitxml.
[[nodiscard]] std::string CheckJUnit(const Checked& checked);

}  // namespace vramscope::cli
