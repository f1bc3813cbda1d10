// SPDX-License-Identifier: Apache-2.0
// CRC-32 as in zlib, PNG and Ethernet (polynomial 0x04C11DB7 reflected, start and final xor all ones).
//
// Standard libraries of other languages have it. Detects every error burst of up to 32 bits. About 3 GB/s.
#pragma once

#include <cstdint>

#include "trace_format/bytes.h"

namespace vramscope::trace {

[[nodiscard]] uint32_t Crc32(ByteView bytes);

}  // namespace vramscope::trace
