// SPDX-License-Identifier: Apache-2.0
// A checkpoint in a trace file: the list of live blocks at one point of the trace. With a checkpoint, a
// reader need not read the trace from the beginning.
//
// The payload is a column set (column_set.h) of type 0, one value per live block, in order of allocation:
//   0 number  1 address  2 size  3 device  4 time  5 process
// Numbers, addresses and times are stored as zigzag deltas. In the checkpoint's block header, first_event is
// the number of events before the checkpoint, and count is the number of live blocks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/live_set.h"

namespace vramscope::trace {

Bytes EncodeCheckpoint(std::span<const LiveBlock> blocks);

// Returns nothing if the payload is malformed, or if it does not contain `count` blocks.
std::optional<std::vector<LiveBlock>> DecodeCheckpoint(ByteView payload, uint32_t count);

}  // namespace vramscope::trace
