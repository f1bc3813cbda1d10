// SPDX-License-Identifier: Apache-2.0
// Optimizers that keep less than Adam: Adafactor, which keeps sums of rows and columns, and Adam with state
// of one byte per value.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/training/trained.h"

namespace vramscope::whatif {

// Adds a block for a parameter, on the stream of the parameter's block. It is optimizer state if `end` is
// kForever, otherwise a temporary.
void AddOptimizerBlock(const Step& step, const TrainedParameter& parameter, Position begin, Position end,
                       uint64_t bytes, Scene& scene);

// Adds state and temporaries of torch.optim.Adafactor in each of the calls, parameter by parameter or
// foreach. Fails with a sentence if the shape of a parameter was not recorded.
[[nodiscard]] Status AddAdafactor(const Step& step, const std::vector<OptimizerCall>& calls, bool foreach_way,
                                  Scene& scene);

// bitsandbytes.optim.Adam8bit and AdamW8bit: only state, because its kernels compute in place.
[[nodiscard]] Status AddAdam8bit(const Step& step, const std::vector<OptimizerCall>& calls, Scene& scene);

}  // namespace vramscope::whatif
