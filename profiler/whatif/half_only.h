// SPDX-License-Identifier: Apache-2.0
// What the model's code does in float16 alone, put into a step that was recorded in float32.
//
// A recording tells where a branch was passed that would have clamped a tensor to itself, as T5 and Whisper
// of transformers do against infinities (`if x.dtype == torch.float16: x = torch.clamp(x, ...)`):
//
//   recorded   x = add(...)              ── norm(x) ──   ...   gradient of x ── AddBackward
//   put in     x = add(...) ── clamp ── norm(clamped) ──   ...   of clamped ── ClampBackward ── AddBackward
//                                  └ keeps x
#pragma once

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// `low`: by block, whether a model in 16 bits has it in 16 bits. Left out are clamps where no gradient
// reaches the tensor, which take the memory of one moment, and a second one of the same tensor.
[[nodiscard]] Step WithHalfOnly(const Step& step, const std::vector<bool>& low);

}  // namespace vramscope::whatif
