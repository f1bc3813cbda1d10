// SPDX-License-Identifier: Apache-2.0
// Lists the blocks of a trace file, and the gaps that cannot be read. Reads the index of the file. Without a
// valid index, walks the file from header to header:
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

// A part of the file that cannot be read.
struct Gap {
  uint64_t begin = 0;
  uint64_t end = 0;
  // The header at the start of the gap, if it is readable. In this case, only the payload is damaged or
  // truncated.
  std::optional<BlockHeader> header;
};

struct BlockMap {
  std::vector<BlockEntry> blocks;  // ordered by offset, without the index block
  std::vector<Gap> gaps;           // ordered by offset; empty if from_index
  bool from_index = false;  // true: payloads were not checked; false: the checksums of all blocks are right
  bool has_index = false;
  std::optional<Trailer> trailer;
};

BlockMap MapBlocks(ByteView file);

}  // namespace vramscope::trace
