// SPDX-License-Identifier: Apache-2.0
// Element types, shapes and layouts of operands.
#include <algorithm>
#include <charconv>
#include <iterator>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

uint32_t BytesOf(uint8_t dtype) {
  // c10::ScalarType, in its order: Byte, Char, Short, Int, Long, Half, Float, Double, ComplexHalf,
  // ComplexFloat, ComplexDouble, Bool, QInt8, QUInt8, QInt32, BFloat16, QUInt4x2, QUInt2x4, Bits1x8, Bits2x4,
  // Bits4x2, Bits8, Bits16, four of Float8, UInt16, UInt32, UInt64.
  static constexpr uint8_t kBytes[] = {1, 1, 2, 4, 8, 2, 4, 8, 4, 8, 16, 1, 1, 1, 4,
                                       2, 1, 1, 1, 1, 1, 1, 2, 1, 1, 1,  1, 2, 4, 8};
  return dtype < std::size(kBytes) ? kBytes[dtype] : 0;
}

uint64_t ElementsIn(const Step& step, const Operand& operand) {
  uint64_t elements = 1;
  for (const int64_t size : SizesOf(step, operand))
    elements *= static_cast<uint64_t>(std::max<int64_t>(size, 0));
  return elements;
}

uint64_t BytesUpTo(const Step& step, const Operand& operand) {
  const Shape& shape = step.shapes[operand.shape];
  const Shape& strides = step.shapes[operand.strides];
  if (!shape.known || !strides.known || shape.count != strides.count) return 0;
  uint64_t last = operand.offset;
  for (uint32_t i = 0; i < shape.count; ++i) {
    const int64_t size = step.dims[shape.first + i];
    if (size <= 0) return 0;
    last += static_cast<uint64_t>(size - 1) * static_cast<uint64_t>(step.dims[strides.first + i]);
  }
  return (last + 1) * BytesOf(operand.dtype);
}

Shape ParseShape(std::string_view text, std::vector<int64_t>& dims) {
  Shape shape{static_cast<uint32_t>(dims.size()), 0, true};
  const char* from = text.data();
  const char* const end = text.data() + text.size();
  while (from < end) {
    int64_t value = 0;
    const auto [next, error] = std::from_chars(from, end, value);
    if (error != std::errc()) break;
    dims.push_back(value);
    ++shape.count;
    from = next + 1;
  }
  return shape;
}

bool LieAlike(const Step& step, const Operand& a, const Operand& b) {
  return std::ranges::equal(SizesOf(step, a), SizesOf(step, b)) &&
         std::ranges::equal(StridesOf(step, a), StridesOf(step, b));
}

bool IsSameView(const Step& step, const Operand& a, const Operand& b) {
  return a.block == b.block && a.offset == b.offset && LieAlike(step, a, b);
}

}  // namespace vramscope::whatif
