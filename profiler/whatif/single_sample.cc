// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/single_sample.h"

#include <algorithm>

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

// Dense in its own order, but for what has one element then.
bool IsContiguous(const Step& step, const BatchAxis& axis, const Operand& operand) {
  const std::span<const int64_t> sizes = SizesOf(step, operand), strides = StridesOf(step, operand);
  const uint64_t batch = operand.block == kNone ? 0 : axis.stride[operand.block];
  if (sizes.size() != strides.size()) return false;
  int64_t dense = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    const bool samples =
        sizes[d] == axis.batch && (strides[d] == 0 || static_cast<uint64_t>(strides[d]) == batch);
    if (samples || sizes[d] == 1) continue;
    if (strides[d] != dense) return false;
    dense *= sizes[d];
  }
  return true;
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

bool IsCopiedForSamples(const Step& step, const BatchAxis& axis, uint32_t block) {
  const StepBlock& copy = step.blocks[block];
  uint32_t op = copy.op;
  while (op != kNone && step.NameOf(step.ops[op]) != "aten::contiguous") op = step.ops[op].parent;
  if (op == kNone || step.ops[op].input_count == 0) return false;
  const Operand& from = InputsOf(step, step.ops[op])[0];
  return from.block != kNone && from.block != block && step.blocks[from.block].end >= copy.end &&
         IsContiguous(step, axis, from);
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
