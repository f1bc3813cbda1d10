// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/sizes/chunked.h"

#include <span>

namespace vramscope::whatif {

std::vector<int64_t> DistancesCut(const Step& step, const Operand& whole, const Operand& part) {
  std::vector<int64_t> distances;
  if (whole.block == model::kNone || !step.shapes[whole.strides].known) return distances;
  const std::span<const int64_t> sizes = SizesOf(step, whole), of_part = SizesOf(step, part);
  for (size_t d = 0; d < sizes.size() && d < of_part.size(); ++d)
    if (sizes[d] != of_part[d]) distances.push_back(StridesOf(step, whole)[d]);
  return distances;
}

std::set<std::pair<uint32_t, int64_t>> FindChunked(const Step& step) {
  std::set<std::pair<uint32_t, int64_t>> found;
  for (const Op& op : step.ops) {
    if (op.input_count == 0 || op.output_count < 2 || step.NameOf(op) != "aten::chunk") continue;
    const Operand& whole = InputsOf(step, op)[0];
    for (const int64_t distance : DistancesCut(step, whole, OutputsOf(step, op)[0]))
      found.emplace(whole.block, distance);
  }
  return found;
}

std::set<std::pair<uint32_t, int64_t>> FindUncut(const Step& step, const std::set<int64_t>& lengths) {
  std::set<std::pair<uint32_t, int64_t>> found;
  for (const Operand& operand : step.operands) {
    if (operand.block == model::kNone || !step.shapes[operand.strides].known || operand.offset != 0) continue;
    if (BytesUpTo(step, operand) != step.blocks[operand.block].requested) continue;
    for (uint32_t d = 0; d < step.Rank(operand.shape); ++d)
      if (lengths.contains(SizesOf(step, operand)[d]))
        found.emplace(operand.block, StridesOf(step, operand)[d]);
  }
  return found;
}

}  // namespace vramscope::whatif
