// SPDX-License-Identifier: Apache-2.0
// What torch.autocast on CUDA does with an operator, and which results keep single precision whatever goes
// in.
//
// Source: the lists AT_FORALL_LOWER_PRECISION_FP, AT_FORALL_FP32, AT_FORALL_FP32_SET_OPT_DTYPE and
// AT_FORALL_PROMOTE of aten/src/ATen/autocast_mode.h, which are the same from 2.2 to 2.15 but for rms_norm.
#pragma once

#include <string_view>

namespace vramscope::whatif {

enum class CastRule {
  kAsGiven,     // works on what it is given
  kLow,         // floats are cast to the low type
  kSingle,      // low ones are cast to float
  kIntoSingle,  // reads what it is given, and returns float: the conversion is inside its kernel
  kPromote,     // the widest type of what goes in; conversions are made
};

// `op` as the dispatcher names it: "aten::linear". `torch` is a release, "2.15.0". `half`: the low type is
// float16, of which softmax has a kernel that returns float; bfloat16 it converts first
// (aten/src/ATen/native/SoftMax.cpp).
[[nodiscard]] CastRule AutocastRuleOf(std::string_view op, std::string_view torch, bool half = true);

// cross_entropy asks for the type that it was given, and autocast leaves that alone. `around`: the operator
// that calls `op`.
[[nodiscard]] bool IsLeftAlone(std::string_view op, std::string_view around);

// Results behind the first stay float: means, inverse deviations, logarithms of sums, gradients of norms'
// weights. In a model that is `all_low` such gradients, of `backward`, are kept in the weights' type, and
// group norm's means and deviations too, as the weights have that of the input
// (aten/src/ATen/native/group_norm.cpp).
[[nodiscard]] bool KeepsStatistics(std::string_view op, bool all_low, bool backward);
// The result has the type of what the operator of forward read, which it is told by an argument: softmax's
// backward.
[[nodiscard]] bool HasTypeOfRead(std::string_view op);
// The result has the type of the first operand, whatever the others are.
[[nodiscard]] bool FollowsFirst(std::string_view op);

}  // namespace vramscope::whatif
