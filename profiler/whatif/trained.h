// SPDX-License-Identifier: Apache-2.0
// What an optimizer steps: the parameters that got a gradient, one by one.
//
// Why not their blocks: the weights of a recurrent network lie in one block for cuDNN, and the optimizer
// keeps state for each of them, and computes one after the other. Each is a leaf of autograd of its own:
//
//   block   │ weight_ih │ weight_hh │ weight_ih │ weight_hh │ bias │ bias │ bias │ bias │
#pragma once

#include <optional>
#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

// A parameter as [others, rows, columns]; a vector has one row.
struct Extent {
  int64_t others = 1, rows = 1, columns = 1;
  bool matrix = false;
  uint32_t element = 4;

  [[nodiscard]] int64_t Values() const { return others * rows * columns; }
  [[nodiscard]] uint64_t Bytes() const { return static_cast<uint64_t>(Values()) * element; }
  [[nodiscard]] uint64_t OfRows() const { return static_cast<uint64_t>(others * rows) * element; }
  [[nodiscard]] uint64_t OfColumns() const { return static_cast<uint64_t>(others * columns) * element; }
  [[nodiscard]] uint64_t OfOthers() const { return static_cast<uint64_t>(others) * element; }
};

struct TrainedParameter {
  uint32_t block = model::kNone;  // into Step::blocks
  uint64_t bytes = 0;
  std::optional<Extent> extent;  // none: no operator of the step had the whole of it
};

// In the order in which their blocks were allocated, and within a block in that of the step's operands.
// O(operands).
[[nodiscard]] std::vector<TrainedParameter> TrainedParameters(const Step& step);

}  // namespace vramscope::whatif
