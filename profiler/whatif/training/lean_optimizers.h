// SPDX-License-Identifier: Apache-2.0
// Optimizers that keep less than Adam: Adafactor, which keeps sums of rows and columns, and Adam with state
// of one byte a value.
#pragma once

#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/training/trained.h"

namespace vramscope::whatif {

// A block beside a parameter, on the stream of its block: of the optimizer's state where `end` is kForever,
// else of what it computes.
void AddOptimizerBlock(const Step& step, const TrainedParameter& parameter, Position begin, Position end,
                       uint64_t bytes, Scene& scene);

// torch.optim.Adafactor in each of the calls, parameter by parameter or foreach: its state, and what it
// computes. Fails with a sentence when the shape of a parameter was not seen.
[[nodiscard]] Status AddAdafactor(const Step& step, const std::vector<OptimizerCall>& calls, bool foreach_way,
                                  Scene& scene);

// bitsandbytes.optim.Adam8bit and AdamW8bit: its state; its kernels compute in place.
[[nodiscard]] Status AddAdam8bit(const Step& step, const std::vector<OptimizerCall>& calls, Scene& scene);

}  // namespace vramscope::whatif
