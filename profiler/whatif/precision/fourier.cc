// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/fourier.h"

#include <bit>

#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr Position kAtEnd = 1.5;  // before the operator's: its copies have gone by then

// The dimensions whose length the transform changes are those that it is over, the last of them; a result is
// as long in the others.
bool TakesHalf(const Step& step, const Op& op) {
  const std::span<const int64_t> in = SizesOf(step, InputsOf(step, op)[0]);
  const std::span<const int64_t> out = SizesOf(step, OutputsOf(step, op)[0]);
  for (size_t d = 0; d < in.size() && d < out.size(); ++d)
    if (in[d] != out[d] && !std::has_single_bit(static_cast<uint64_t>(in[d]))) return false;
  return true;
}

}  // namespace

bool IsTransform(const Step& step, const Op& op) {
  return step.NameOf(op) == "aten::_fft_r2c" && op.input_count > 0 && op.output_count > 0;
}

const Operand* WidenedForTransform(const Step& step, const Op& op, const Versions& versions) {
  if (!IsTransform(step, op) || TakesHalf(step, op)) return nullptr;
  const Operand& operand = InputsOf(step, op)[0];
  const bool low = operand.block != kNone && versions.Known(operand.block) &&
                   versions.TypeOf(operand.block) == kBfloat16Type;
  return low ? &operand : nullptr;
}

void EndTransform(const Step& step, const Op& op, uint8_t low, Versions& versions) {
  if (op.output_count == 0 || low != kBfloat16Type) return;
  const Operand& result = OutputsOf(step, op)[0];
  if (result.block == kNone || result.dtype != kComplexType || versions.Known(result.block)) return;
  if (IsTransform(step, op) && InputsOf(step, op)[0].block != kNone &&
      versions.TypeOf(InputsOf(step, op)[0].block) == low)
    versions.WidenItself(result.block, low, op.end - kAtEnd);
  else if (step.NameOf(op) == "aten::_fft_c2c")
    versions.Decide(result.block, kFloatType);
}

}  // namespace vramscope::whatif
