// SPDX-License-Identifier: Apache-2.0
#include "trace_format/checkpoint.h"

#include "trace_format/rows.h"

namespace vramscope::trace {
namespace {

enum LiveColumn : size_t { kNumber, kAddress, kSize, kDevice, kTime, kProcess, kLiveColumns };

}  // namespace

Bytes EncodeCheckpoint(std::span<const LiveBlock> blocks) {
  RowWriter rows({Transform::kDelta, Transform::kDelta, Transform::kPlain, Transform::kPlain,
                  Transform::kDelta, Transform::kPlain});
  for (const LiveBlock& block : blocks) {
    rows.AddRow({block.number, block.address, block.size, block.device, block.time_ns, block.process});
  }
  return rows.Finish();
}

std::optional<std::vector<LiveBlock>> DecodeCheckpoint(ByteView payload, uint32_t count) {
  const auto rows = ReadRows(payload, kLiveColumns, count);
  if (!rows) return std::nullopt;
  std::vector<LiveBlock> blocks;
  blocks.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const auto value = [&](LiveColumn column) { return (*rows)[column][i]; };
    if (value(kNumber) == 0) return std::nullopt;
    blocks.push_back({value(kNumber), value(kAddress), value(kSize), value(kDevice), value(kTime),
                      static_cast<uint32_t>(value(kProcess))});
  }
  return blocks;
}

}  // namespace vramscope::trace
