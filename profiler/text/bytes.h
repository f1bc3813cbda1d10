// SPDX-License-Identifier: Apache-2.0
// Amounts of memory as people read them.
#pragma once

#include <cstdint>
#include <string>

namespace vramscope::text {

// "11.6 GiB": one decimal, binary units; "512 B".
[[nodiscard]] std::string Bytes(uint64_t bytes);

}  // namespace vramscope::text
