// SPDX-License-Identifier: Apache-2.0
// The seal of a program: proves later that this account recorded it.
//
// Why: a program in a trace is code. A sealed program is run again without asking.
//
//   seal = HMAC-SHA256(key, program), as hexadecimal digits
//   key  = ~/.config/vramscope/seal.key, 32 random bytes, mode 0600
#pragma once

#include <string>
#include <string_view>

namespace vramscope::collector {

// "" if this account has no writable home folder. Creates the key at first use.
[[nodiscard]] std::string SealOf(std::string_view program);
// True if this account made the seal. Never creates a key.
[[nodiscard]] bool IsSealedHere(std::string_view program, std::string_view seal);

}  // namespace vramscope::collector
