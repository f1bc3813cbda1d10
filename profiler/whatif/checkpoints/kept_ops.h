// SPDX-License-Identifier: Apache-2.0
// What the value of --checkpoint names: modules, and operators whose results they keep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// "layers.*,ops:matmul+attention" taken apart.
struct CheckpointChoice {
  std::string modules;                 // "layers.*"; "all" where only operators are named
  std::vector<std::string> operators;  // "aten::mm", ...; empty: everything is computed again
};

// Operators by their names without "aten::", and matmul, attention, convolution for all that do that, with +
// between them. Fails with a sentence when nothing comes after "ops:".
[[nodiscard]] Result<CheckpointChoice> ParseCheckpoint(std::string_view value);

// Operators of forward that are called so and stand in no other one that is, in order. Fails with a sentence
// when one of the names was not seen to run.
[[nodiscard]] Result<std::vector<uint32_t>> FindKeptOps(const Step& step,
                                                        const std::vector<std::string>& operators);

// "torch.ops.aten.mm.default, torch.ops.aten.addmm.default": those of the step.
[[nodiscard]] std::string KeptOpsCode(const Step& step, const std::vector<uint32_t>& ops);

}  // namespace vramscope::whatif
