// SPDX-License-Identifier: Apache-2.0
// Which blocks a file has and what lies between them: by its index, or, when none can be read, by walking.
//
//   header │ block │ block │ ░░ damaged ░░░░░░░░░░ │ block │ block that the file's end cu
//          └──────►└──────►└ search a right header ►└──────►└ gap
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
  // The header that stands at its begin, when that could be read: the block's payload is damaged or cut.
  std::optional<BlockHeader> header;
};

struct BlockMap {
  std::vector<BlockEntry> blocks;  // ascending offsets, without the index block
  std::vector<Gap> gaps;           // ascending offsets; only by walking
  bool from_index = false;         // payloads have not been looked at; by walking, all blocks are whole
  bool has_index = false;
  std::optional<Trailer> trailer;
};

BlockMap MapBlocks(ByteView file);

}  // namespace vramscope::trace
