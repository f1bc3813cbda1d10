// SPDX-License-Identifier: Apache-2.0
// Parses the value of --checkpoint: the modules to checkpoint, and the operators whose results are kept
// (selective checkpointing).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// The parts of "layers.*,ops:matmul+attention".
struct CheckpointChoice {
  std::string modules;                 // "layers.*"; "all" if only operators are named
  std::vector<std::string> operators;  // "matmul", "mm", ...; empty = all results are recomputed
};

// The operators follow "ops:", without "aten::", and are separated by +. The names "matmul", "attention" and
// "convolution" mean all operators that compute these. Returns an error if no operator follows "ops:".
[[nodiscard]] Result<CheckpointChoice> ParseCheckpoint(std::string_view value);

// Returns the forward operators with these names, in order, without operators inside other kept operators.
// Returns an error if no operator of the step has one of the names.
[[nodiscard]] Result<std::vector<OpIndex>> FindKeptOps(const Step& step,
                                                       const std::vector<std::string>& operators);

// Returns the names of `ops` in Python code: "torch.ops.aten.mm.default, torch.ops.aten.addmm.default".
[[nodiscard]] std::string KeptOpsCode(const Step& step, const std::vector<OpIndex>& ops);

}  // namespace vramscope::whatif
