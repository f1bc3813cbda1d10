// SPDX-License-Identifier: Apache-2.0
// The answers of `vramscope diff` and `vramscope fleet` as one HTML file each, like the report's page
// (page.h).
//
// The input is JSON text, so that the page has the same numbers as the terminal.
#pragma once

#include <string>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct AnswerContent {
  std::string document;  // the output of `vramscope diff --json`, or of fleet::PageJson()
  std::string headline;  // first line on the terminal
  std::string title;
  std::string version;                                    // of vramscope
  const model::Framework* framework = &model::PyTorch();  // for the names of categories
};

// Each page has at most kMostBytes (page.h).
[[nodiscard]] std::string MakeDiffPage(const AnswerContent& content);
[[nodiscard]] std::string MakeFleetPage(const AnswerContent& content);

}  // namespace vramscope::html
