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

}  // namespace vramscope::whatif
