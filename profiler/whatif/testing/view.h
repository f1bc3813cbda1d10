// SPDX-License-Identifier: Apache-2.0
// A tensor as a test writes it down: its sizes and strides, of a step that an Inserter puts together.
#pragma once

#include <cstdint>
#include <vector>

#include "profiler/whatif/step/insert.h"

namespace vramscope::whatif {

inline constexpr uint8_t kFloat = 6, kLong = 4;  // c10::ScalarType

struct View {
  std::vector<int64_t> shape, strides;
  uint64_t offset = 0;  // in elements
};

// A step that an Inserter begins with: nothing but a shape that is not known.
inline Step BareStep(const model::Run* run) {
  Step bare;
  bare.run = run;
  bare.shapes.push_back({});
  return bare;
}

// What an operator is given of a block, or makes in it; `dtype` is a c10::ScalarType.
inline Operand Viewed(Inserter& into, uint32_t block, const View& view, uint8_t dtype) {
  Operand operand;
  operand.block = block, operand.dtype = dtype, operand.offset = view.offset;
  operand.shape = into.ShapeOf(view.shape), operand.strides = into.ShapeOf(view.strides);
  return operand;
}

// A tensor of floats, the next one of the step's operands.
inline void AddTensor(Step& step, uint32_t op, uint32_t block, uint16_t argument, const char* shape,
                      const char* strides) {
  Operand& operand = step.operands.emplace_back();
  operand.op = op, operand.block = block, operand.argument = argument, operand.dtype = kFloat;
  operand.shape = static_cast<uint32_t>(step.shapes.size());
  operand.strides = operand.shape + 1;
  step.shapes.push_back(ParseShape(shape, step.dims));
  step.shapes.push_back(ParseShape(strides, step.dims));
}

}  // namespace vramscope::whatif
