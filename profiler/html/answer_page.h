// SPDX-License-Identifier: Apache-2.0
// The answers of `vramscope diff` and `vramscope fleet` as one HTML file each, with the same look and the
// same security policy as the report's page (page.h).
//
// Why the input is JSON text: every number in the page is then the terminal's own, and this folder does not
// depend on the code that compares runs or ranks.
#pragma once

#include <string>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct AnswerContent {
  std::string document;  // the output of `vramscope diff --json`, or of fleet::PageJson()
  std::string headline;  // the terminal's first line
  std::string title;
  std::string version;                                    // of vramscope
  const model::Framework* framework = &model::PyTorch();  // gives the names of the categories
};

// Each page has at most kMostBytes (page.h), whatever the document contains.
[[nodiscard]] std::string MakeDiffPage(const AnswerContent& content);
[[nodiscard]] std::string MakeFleetPage(const AnswerContent& content);

}  // namespace vramscope::html
