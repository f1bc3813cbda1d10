// SPDX-License-Identifier: Apache-2.0
// Parses the value of --checkpoint: modules, and operators whose results the checkpoints keep.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The parts of "layers.*,ops:matmul+attention".
struct CheckpointChoice {
  std::string modules;                 // "layers.*"; "all" if only operators are named
  std::vector<std::string> operators;  // "aten::mm", ...; empty: everything is recomputed
};

// Operators are named without "aten::" and separated by +. "matmul", "attention" and "convolution" stand for
// all operators that compute these. Fails with a sentence if nothing follows "ops:".
[[nodiscard]] Result<CheckpointChoice> ParseCheckpoint(std::string_view value);

// The forward operators with these names that are not inside another one with such a name, in order. Fails
// with a sentence if one of the names never ran.
[[nodiscard]] Result<std::vector<OpIndex>> FindKeptOps(const Step& step,
                                                       const std::vector<std::string>& operators);

// "torch.ops.aten.mm.default, torch.ops.aten.addmm.default": the overloads in this step.
[[nodiscard]] std::string KeptOpsCode(const Step& step, const std::vector<OpIndex>& ops);

}  // namespace vramscope::whatif
