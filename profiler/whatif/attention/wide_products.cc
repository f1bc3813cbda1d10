// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/attention/wide_products.h"

#include <algorithm>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr uint32_t kDimensions = 4;  // of what kernels take: [batch, heads, rows, width]
constexpr uint16_t kValue = 2;       // behind the query and the key
constexpr uint16_t kMask = 3;        // which is added as it is

}  // namespace

bool StaysProducts(const Step& step, const Op& op) {
  if (op.node != kNone || step.NameOf(op) != kMathAttention) return false;
  const auto lies_apart = [&](const Operand& operand) {
    const std::span<const int64_t> sizes = SizesOf(step, operand), strides = StridesOf(step, operand);
    return IsFloat(operand) && !sizes.empty() && strides.size() == sizes.size() && sizes.back() > 1 &&
           strides.back() != 1;
  };
  const auto is_of_none = [&](const Operand& operand) {
    const uint32_t rank = step.Rank(operand.shape);
    return operand.argument <= kValue && rank != 0 && rank != kDimensions;
  };
  const std::span<const Operand> given = InputsOf(step, op);
  const auto is_mask = [&](const Operand& operand) {
    return operand.argument == kMask && step.Rank(operand.shape) != 0;
  };
  // What one sample of queries asks of many of keys, PyTorch's products spread over them.
  const auto has_other_samples = [&](const Operand& operand) {
    return operand.argument <= kValue && step.Rank(operand.shape) == kDimensions &&
           SizesOf(step, operand)[0] != SizesOf(step, given[0])[0];
  };
  return std::ranges::any_of(given, is_of_none) || std::ranges::any_of(given, lies_apart) ||
         std::ranges::any_of(given, is_mask) || std::ranges::any_of(given, has_other_samples);
}

bool WideProducts::Begin(const Op& op) {
  if (!StaysProducts(step_, op)) return false;
  Position at = op.begin;
  const auto index = static_cast<uint32_t>(&op - step_.ops.data());
  for (const Operand& operand : InputsOf(step_, op)) {
    // Each is converted for itself, also where they are views of one projection.
    const auto shared = std::ranges::find(given_, operand.block, &Given::block);
    if (shared != given_.end()) versions_.SetCurrent(operand.block, shared->version);
    if (operand.argument > kValue || !IsFloat(operand) || !versions_.Known(operand.block) ||
        versions_.TypeOf(operand.block) != low_)
      continue;
    const uint32_t version = versions_.Current(operand.block);
    versions_.Cast(operand.block, kFloatType, at += kStride, index, operand);
    given_.push_back({operand.block, version, versions_.Current(operand.block)});
  }
  return !given_.empty();
}

void WideProducts::End(const Op& op) {
  if (given_.empty()) return;
  if (StaysProducts(step_, op)) {
    for (; !given_.empty(); given_.pop_back()) {
      const Given& given = given_.back();
      versions_.SetCurrent(given.block, given.wide);
      versions_.Used(given.block, op.end);
      versions_.SetCurrent(given.block, given.version);
    }
    return;
  }
  const bool back = step_.NameOf(op) == "aten::to" && op.parent != kNone && op.input_count > 0 &&
                    StaysProducts(step_, step_.ops[op.parent]);
  if (!back) return;
  const Operand& operand = InputsOf(step_, op)[0];
  if (!IsFloat(operand) || versions_.TypeOf(operand.block) != kFloatType) return;
  const Op& products = step_.ops[op.parent];
  const uint32_t version = versions_.Current(operand.block);
  const Position at = op.begin + kStride;
  if (OutputsOf(step_, products)[0].block == operand.block) {
    versions_.Cast(operand.block, low_, at, kNone, operand);
    return versions_.Return(operand.block, at);
  }
  versions_.Cast(operand.block, low_, at, op.parent, operand);
  versions_.Used(operand.block, products.end + kStride);  // the caller lets go of it
  versions_.SetCurrent(operand.block, version);
}

}  // namespace vramscope::whatif
