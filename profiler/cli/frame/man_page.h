// SPDX-License-Identifier: Apache-2.0
// The manual pages, from the tables of --help: vramscope(1), and one for each verb.
#pragma once

#include <span>
#include <string>

#include "profiler/cli/frame/verb.h"

namespace vramscope::cli {

// In the macros of man(7).
[[nodiscard]] std::string ManPage(std::span<const Verb> verbs, const std::string& version);
[[nodiscard]] std::string ManPage(const Verb& verb, const std::string& version);

}  // namespace vramscope::cli
