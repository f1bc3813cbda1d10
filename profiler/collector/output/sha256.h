// SPDX-License-Identifier: Apache-2.0
// SHA-256 (FIPS 180-4) and HMAC-SHA256 (RFC 2104), for seal.h.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace vramscope::collector {

using Digest = std::array<uint8_t, 32>;

[[nodiscard]] Digest Sha256(std::string_view text);
[[nodiscard]] Digest HmacSha256(std::string_view key, std::string_view text);

}  // namespace vramscope::collector
