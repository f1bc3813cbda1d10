// SPDX-License-Identifier: Apache-2.0
// Prints a JSON document. Names from a trace cannot make the output invalid or control a terminal.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/text/harmless.h"

namespace vramscope::text {

// Returns the document as UTF-8 text. Invalid bytes become U+FFFD, and characters that must not be printed
// become \u escapes. `indent` -1 gives one line.
template <typename Json>
[[nodiscard]] std::string Dump(const Json& document, int indent = 2) {
  return EscapedJson(document.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace vramscope::text
