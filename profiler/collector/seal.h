// SPDX-License-Identifier: Apache-2.0
// The seal of a program that was noted: shows later that this account recorded it.
//
// Why: a program in a trace is code, and a trace may come from anybody. What this account recorded is run
// again without a question, anything else only when the user asks for it.
//
//   seal = HMAC-SHA256(key, program), as hexadecimal digits
//   key  = ~/.config/vramscope/seal.key, 32 random bytes, mode 0600
#pragma once

#include <string>
#include <string_view>

namespace vramscope::collector {

// "" where this account can have no key (no home folder that can be written). Makes the key at first use.
[[nodiscard]] std::string SealOf(std::string_view program);
// Whether this account made it. Never makes a key.
[[nodiscard]] bool IsSealedHere(std::string_view program, std::string_view seal);

}  // namespace vramscope::collector
