// SPDX-License-Identifier: Apache-2.0
// A checkpoint in a trace file: the memory blocks that are alive at one point of the trace, so that a reader
// need not start at the beginning.
//
// The payload is a column set (column_set.h) of type 0, one value per live memory block, in the order of
// allocation:
//   0 number  1 address  2 size  3 device  4 time  5 process
// (numbers, addresses and times as zigzag deltas).
// In the header of the checkpoint block, first_event is the number of events before the checkpoint, and count
// is the number of live blocks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/live_set.h"

namespace vramscope::trace {

Bytes EncodeCheckpoint(std::span<const LiveBlock> blocks);

// Returns nothing if the payload is malformed or does not hold `count` blocks.
std::optional<std::vector<LiveBlock>> DecodeCheckpoint(ByteView payload, uint32_t count);

}  // namespace vramscope::trace
