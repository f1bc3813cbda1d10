// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/single_sample.h"

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiler/whatif/strides.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint8_t kInt64 = 4, kDouble = 7;  // c10::ScalarType

// What CUB's DeviceScan keeps of its tiles, of which a row has fewer than the 32 that it always reserves:
// beside a value of 8 bytes a status does not fit into one word (cub/agent/single_pass_scan_operators.cuh).
uint64_t ScratchOfScan(uint8_t dtype) { return dtype == kInt64 || dtype == kDouble ? 1536 : 1024; }

// cumsum(dim) of what is one row then: the whole device scans it (ATen/native/cuda/ScanUtils.cuh).
bool ScansOneRow(const Step& step, const BatchAxis& axis, const Op& op) {
  if (step.NameOf(op) != "aten::cumsum" || op.input_count == 0) return false;
  const Operand& operand = InputsOf(step, op)[0];
  if (operand.block == kNone || axis.stride[operand.block] == 0) return false;
  const std::span<const int64_t> sizes = SizesOf(step, operand);
  const auto rows = static_cast<uint64_t>(axis.batch);
  return !sizes.empty() && sizes.size() > 1 &&
         ElementsIn(step, operand) == rows * static_cast<uint64_t>(sizes.back());
}

// Without gaps, as one sample.
bool IsContiguous(const Step& step, const BatchAxis& axis, const Operand& operand) {
  const std::span<const int64_t> sizes = SizesOf(step, operand), strides = StridesOf(step, operand);
  const uint64_t batch = operand.block == kNone ? 0 : axis.stride[operand.block];
  if (sizes.size() != strides.size()) return false;
  Extents one(sizes.begin(), sizes.end());
  for (size_t d = 0; d < one.size(); ++d) {
    const bool samples = strides[d] == 0 || static_cast<uint64_t>(strides[d]) == batch;
    if (one[d] == axis.batch && samples) one[d] = 1;
  }
  return LiesWithoutGaps(one, strides);
}

// reshape() of what has the samples in front, as one sample: whether that takes no copy.
bool IsViewed(const Step& step, const BatchAxis& axis, const Op& reshape) {
  if (reshape.output_count == 0) return false;
  const Operand &from = InputsOf(step, reshape)[0], &to = OutputsOf(step, reshape)[0];
  const std::span<const int64_t> sizes = SizesOf(step, from), wanted = SizesOf(step, to);
  if (sizes.empty() || wanted.empty() || sizes[0] != axis.batch || wanted[0] % axis.batch != 0) return false;
  if (StridesOf(step, from).size() != sizes.size() || ElementsOfSample(step, axis, from, 0) == 0)
    return false;
  Extents one(sizes.begin(), sizes.end()), other(wanted.begin(), wanted.end());
  one[0] = 1, other[0] /= axis.batch;
  return StridesOfView(one, StridesOf(step, from), other).has_value();
}

}  // namespace

bool IsIndexOfSamples(const Step& step, const BatchAxis& axis, const Op& op) {
  uint32_t index = op.parent;
  while (index != kNone && step.NameOf(step.ops[index]) != "aten::index") index = step.ops[index].parent;
  if (index == kNone || step.ops[index].input_count == 0) return false;
  const Operand& indexed = InputsOf(step, step.ops[index])[0];
  return indexed.block != kNone && axis.stride[indexed.block] != 0 && step.Rank(indexed.shape) > 0 &&
         step.Dims(indexed.shape)[0] == axis.batch;
}

uint32_t CopiedForSamples(const Step& step, const BatchAxis& axis, uint32_t block) {
  uint32_t op = step.blocks[block].op;
  const auto copies = [&](const Op& call) {
    return step.NameOf(call) == "aten::contiguous" || step.NameOf(call) == "aten::reshape";
  };
  while (op != kNone && !copies(step.ops[op])) op = step.ops[op].parent;
  if (op == kNone || step.ops[op].input_count == 0) return kNone;
  const Operand& from = InputsOf(step, step.ops[op])[0];
  if (from.block == kNone || from.block == block) return kNone;
  const bool same = step.NameOf(step.ops[op]) == "aten::contiguous" ? IsContiguous(step, axis, from)
                                                                    : IsViewed(step, axis, step.ops[op]);
  return same ? from.block : kNone;
}

void LeaveOutCopiesForSamples(const Step& step, const BatchAxis& axis, Scene& scene) {
  std::unordered_map<uint32_t, std::vector<size_t>> at;  // by block of the step
  for (size_t i = 0; i < scene.blocks.size(); ++i) {
    if (scene.blocks[i].origin != kNone) at[scene.blocks[i].origin].push_back(i);
  }
  std::vector<std::pair<size_t, uint32_t>> copies;  // into scene.blocks, and the block that it is a copy of
  for (size_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& copy = scene.blocks[i];
    if (copy.origin == kNone || copy.birth != Birth::kEachStep) continue;
    if (const uint32_t from = CopiedForSamples(step, axis, copy.origin); from != kNone)
      copies.emplace_back(i, from);
  }
  // From the last one on: of a copy of a copy the first has to stay as long as the second.
  std::sort(copies.begin(), copies.end(), [&](const auto& a, const auto& b) {
    return scene.blocks[a.first].begin > scene.blocks[b.first].begin;
  });
  for (const auto& [index, from] : copies) {
    Block& copy = scene.blocks[index];
    copy.bytes = 0;
    // Where a lever made several of one, the one that is there when this is copied.
    for (const size_t i : at[from]) {
      Block& source = scene.blocks[i];
      if (source.begin < copy.begin && copy.begin <= source.end) source.end = std::max(source.end, copy.end);
    }
  }
}

void AddScans(const Step& step, const BatchAxis& axis, Scene& scene) {
  constexpr Position kBeforeFree = 2.5;  // before the operator's end, which frees what it converted
  for (const Op& op : step.ops) {
    if (!ScansOneRow(step, axis, op)) continue;
    const uint8_t dtype = OutputsOf(step, op).empty() ? kInt64 : OutputsOf(step, op)[0].dtype;
    AddScratch(op, kBeforeFree, ScratchOfScan(dtype), scene);
  }
}

}  // namespace vramscope::whatif
