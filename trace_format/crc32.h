// SPDX-License-Identifier: Apache-2.0
// CRC-32 as in zlib, PNG and Ethernet (polynomial 0x04C11DB7 reflected, start and final xor all ones).
//
// Why this one: every language's standard library has it, so readers in other languages stay short. It
// detects every error burst of up to 32 bits. It runs over compressed bytes (a few bytes per event), so its
// speed (about 3 GB/s here) is never the limit.
#pragma once

#include <cstdint>

#include "trace_format/bytes.h"

namespace vramscope::trace {

[[nodiscard]] uint32_t Crc32(ByteView bytes);

}  // namespace vramscope::trace
