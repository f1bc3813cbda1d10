// SPDX-License-Identifier: Apache-2.0
// The seal of a program in a trace. The seal proves that this user account recorded the program.
//
// A program in a trace is code. vramscope runs a sealed program again without asking the user.
//
//   seal = HMAC-SHA256(key, program), as hexadecimal digits
//   key  = ~/.config/vramscope/seal.key, 32 random bytes, mode 0600
#pragma once

#include <string>
#include <string_view>

namespace vramscope::collector {

// Returns the seal, or "" if this account has no writable home folder. Creates the key at first use.
[[nodiscard]] std::string SealOf(std::string_view program);
// Returns true if this account made the seal for this program. Never creates a key.
[[nodiscard]] bool IsSealedHere(std::string_view program, std::string_view seal);

}  // namespace vramscope::collector
