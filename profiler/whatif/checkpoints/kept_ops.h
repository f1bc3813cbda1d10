// SPDX-License-Identifier: Apache-2.0
// Parses --checkpoint: modules, and operators whose results the checkpoints keep.
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

// Operators: without "aten::", separated by +. "matmul", "attention" and "convolution" stand for all
// operators that compute these. Fails if nothing follows "ops:".
[[nodiscard]] Result<CheckpointChoice> ParseCheckpoint(std::string_view value);

// The outermost forward operators with these names, in order. Fails if one of the names never ran.
[[nodiscard]] Result<std::vector<OpIndex>> FindKeptOps(const Step& step,
                                                       const std::vector<std::string>& operators);

// "torch.ops.aten.mm.default, torch.ops.aten.addmm.default": the overloads in this step.
[[nodiscard]] std::string KeptOpsCode(const Step& step, const std::vector<OpIndex>& ops);

}  // namespace vramscope::whatif
