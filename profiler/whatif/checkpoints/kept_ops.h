// SPDX-License-Identifier: Apache-2.0
// What is said of checkpointing: modules, what they keep, and what requires gradients in front of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// "layers.*,ops:matmul+attention,inputs:embed,masks:layers.0.cross" taken apart.
struct CheckpointChoice {
  std::string modules;                 // "layers.*"; "all" where only operators are named
  std::vector<std::string> operators;  // "aten::mm", ...; empty: everything is computed again
  std::string inputs;                  // modules whose results require gradients, with commas; may be empty
  std::string masks;                   // and whose masks do
};

// Operators by their names without "aten::", and matmul, attention, convolution for all that do that, with +
// between them. Modules behind "inputs:" and "masks:" are written so too. Fails with a sentence when there is
// nothing behind one of them.
[[nodiscard]] Result<CheckpointChoice> ParseCheckpoint(std::string_view value);

// Operators of forward that are called so and stand in no other one that is, in order. Fails with a sentence
// when one of the names was not seen to run.
[[nodiscard]] Result<std::vector<uint32_t>> FindKeptOps(const Step& step,
                                                        const std::vector<std::string>& operators);

// "torch.ops.aten.mm.default, torch.ops.aten.addmm.default": those of the step.
[[nodiscard]] std::string KeptOpsCode(const Step& step, const std::vector<uint32_t>& ops);

}  // namespace vramscope::whatif
