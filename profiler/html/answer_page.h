// SPDX-License-Identifier: Apache-2.0
// Makes one HTML page from the answer of `vramscope diff` or `vramscope fleet`, like the page of a report
// (page.h).
//
// The input is the JSON text of the answer. Therefore the page has the same numbers as the terminal.
#pragma once

#include <string>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct AnswerContent {
  std::string document;  // the output of `vramscope diff --json`, or of fleet::PageJson()
  std::string headline;  // the first line that the terminal shows
  std::string title;
  std::string version;                                    // of vramscope
  const model::Framework* framework = &model::PyTorch();  // for the names of categories
};

// Each page has at most kMostBytes (page.h).
[[nodiscard]] std::string MakeDiffPage(const AnswerContent& content);
[[nodiscard]] std::string MakeFleetPage(const AnswerContent& content);

}  // namespace vramscope::html
