// SPDX-License-Identifier: Apache-2.0
// A checkpoint in a trace file: the live blocks at one point. With it, a reader need not start at the
// beginning.
//
// The payload is a column set (column_set.h) of type 0, one value per live block, in order of allocation:
//   0 number  1 address  2 size  3 device  4 time  5 process
// (numbers, addresses and times as zigzag deltas). In the checkpoint's block header, first_event counts the
// events before it, and count the live blocks.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "trace_format/bytes.h"
#include "trace_format/live_set.h"

namespace vramscope::trace {

Bytes EncodeCheckpoint(std::span<const LiveBlock> blocks);

// Nothing if the payload is malformed or does not hold `count` blocks.
std::optional<std::vector<LiveBlock>> DecodeCheckpoint(ByteView payload, uint32_t count);

}  // namespace vramscope::trace
