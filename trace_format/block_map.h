// SPDX-License-Identifier: Apache-2.0
// The blocks of a file and the gaps between them, from its index or by walking the file.
//
//   header │ block │ block │ ░░ damaged ░░░░░░░░░░░░░░ │ block │ last block, cut off
//          └──────►└──────►└ search for a valid header ►└──────►└ gap
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace_format/block_index.h"
#include "trace_format/bytes.h"
#include "trace_format/wire.h"

namespace vramscope::trace {

// A stretch of the file that holds nothing readable.
struct Gap {
  uint64_t begin = 0;
  uint64_t end = 0;
  // The header at its beginning, if readable: only the payload is then damaged or truncated.
  std::optional<BlockHeader> header;
};

struct BlockMap {
  std::vector<BlockEntry> blocks;  // ascending offsets, without the index block
  std::vector<Gap> gaps;           // ascending offsets; found only by walking
  bool from_index = false;         // true: payloads were not checked; false: all blocks are whole
  bool has_index = false;
  std::optional<Trailer> trailer;
};

BlockMap MapBlocks(ByteView file);

}  // namespace vramscope::trace
