// SPDX-License-Identifier: Apache-2.0
// The answers of `vramscope diff` and `vramscope fleet` as one HTML file each, with the look and the safety of
// the report's page (page.h).
//
// Why they take JSON text: every number in the page then equals the terminal's by construction. This folder
// also need not know how runs or ranks are compared.
#pragma once

#include <string>

#include "profiler/model/framework.h"

namespace vramscope::html {

struct AnswerContent {
  std::string document;  // of `vramscope diff --json`, or fleet::PageJson()
  std::string headline;  // the terminal's first line
  std::string title;
  std::string version;                                    // of vramscope
  const model::Framework* framework = &model::PyTorch();  // whose words name the categories
};

// At most kMostBytes (page.h), whatever the document contains.
[[nodiscard]] std::string MakeDiffPage(const AnswerContent& content);
[[nodiscard]] std::string MakeFleetPage(const AnswerContent& content);

}  // namespace vramscope::html
