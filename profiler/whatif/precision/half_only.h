// SPDX-License-Identifier: Apache-2.0
// What the model's code does in 16 bits alone, put into a step that was recorded in float32.
//
// A recording tells where a branch was passed that would have clamped a tensor to itself, as T5 and Whisper
// of transformers do against infinities (`if x.dtype == torch.float16: x = torch.clamp(x, ...)`):
//
//   recorded   x = add(...)              ── norm(x) ──   ...   gradient of x ── AddBackward
//   put in     x = add(...) ── clamp ── norm(clamped) ──   ...   of clamped ── ClampBackward ── AddBackward
//                                  └ keeps x
//
// And where it would have computed softmax in float32, as XGLM does, which keeps a wider result:
//
//   recorded   softmax(x)      put in   softmax(x, dtype=torch.float32) ── to(torch.float16)
#pragma once

#include "profiler/whatif/precision/precision.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// `low`: by block, whether it is of `type`. Left out are clamps where no gradient reaches the tensor, which
// take the memory of one moment, and a second one of the same tensor.
[[nodiscard]] Step WithHalfOnly(const Step& step, const std::vector<bool>& low, uint8_t type = kHalfType);

// The step as `retype` has it in 16 bits, with all that: UnderAutocast or AllInLow.
[[nodiscard]] Step InLowWithHalfOnly(const Step& step, uint8_t type, Step (*retype)(const Step&, uint8_t));

}  // namespace vramscope::whatif
