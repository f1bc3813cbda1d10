// SPDX-License-Identifier: Apache-2.0
// Failures in a page. The module is compiled without exceptions: code that would throw ends the module, and
// the page shows this (page.js).
#include "profiler/text/failure.h"

namespace vramscope::text {

std::string SentenceOf(const std::exception& failure, const std::string&) { return failure.what(); }

std::string FailureOf(const std::function<void()>& work, const std::string&) {
  work();
  return "";
}

}  // namespace vramscope::text
