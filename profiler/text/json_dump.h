// SPDX-License-Identifier: Apache-2.0
// A JSON document as text, in which names of foreign programs do no harm.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "profiler/text/harmless.h"

namespace vramscope::text {

// UTF-8, bytes that are none as U+FFFD, and what must not be printed as \u escapes. `indent`: -1 = all on one
// line.
template <typename Json>
[[nodiscard]] std::string Dump(const Json& document, int indent = 2) {
  return EscapedJson(document.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace vramscope::text
