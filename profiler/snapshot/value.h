// SPDX-License-Identifier: Apache-2.0
// One Python value of a snapshot that is being read, in eight bytes. The low four bits are the kind. The
// other bits are a number or an index.
//
// Integers of up to 60 bits (addresses, sizes, times) are stored in the value itself. For all other kinds,
// the value is an index into Values or Records.
#pragma once

#include <cstdint>

namespace vramscope::snapshot {

enum class Kind : uint8_t {
  kNone,
  kInt,  // signed, 60 bits, in the value
  kBool,
  kFloat,   // Values::Float
  kString,  // into the TextTable
  kList,    // a list or tuple: Values::container
  kDict,    // any other dict: alternating keys and values, Values::container
  kFrame,   // the dict of a frame; kEvent to kAnnotation are also dicts (records.h)
  kStack,   // a list of frames
  kEvent,
  kSegment,
  kBlock,
  kHistory,  // requested size and stack of a block, in old PyTorch releases
  kAnnotation,
  kBigInt,  // Values::BigInt
  kPair,    // a tuple of two 30-bit numbers: pool ids
};

// True for kinds that are stored in a table. The records of one list have consecutive indexes.
constexpr bool IsRecord(Kind kind) {
  return kind == Kind::kEvent || kind == Kind::kSegment || kind == Kind::kBlock || kind == Kind::kHistory ||
         kind == Kind::kAnnotation;
}

class Value {
 public:
  constexpr Value() = default;
  constexpr Value(Kind kind, uint64_t index) : bits_(index << 4 | static_cast<uint64_t>(kind)) {}

  static constexpr int64_t kMaxInt = (int64_t{1} << 59) - 1;
  static constexpr bool FitsInt(int64_t number) { return number >= -kMaxInt - 1 && number <= kMaxInt; }
  static constexpr Value Int(int64_t number) { return {Kind::kInt, static_cast<uint64_t>(number)}; }
  static constexpr bool FitsPair(Value a, Value b) { return a.FitsHalf() && b.FitsHalf(); }
  static constexpr Value Pair(Value a, Value b) {
    return {Kind::kPair, static_cast<uint64_t>(a.AsInt()) << 30 | static_cast<uint64_t>(b.AsInt())};
  }

  [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(bits_ & 15); }
  [[nodiscard]] constexpr bool Is(Kind kind_wanted) const { return kind() == kind_wanted; }
  [[nodiscard]] constexpr int64_t AsInt() const { return static_cast<int64_t>(bits_) >> 4; }
  [[nodiscard]] constexpr uint32_t index() const { return static_cast<uint32_t>(bits_ >> 4); }
  [[nodiscard]] constexpr uint32_t first() const { return static_cast<uint32_t>(bits_ >> 34); }
  [[nodiscard]] constexpr uint32_t second() const { return static_cast<uint32_t>(bits_ >> 4) & 0x3fffffff; }
  [[nodiscard]] constexpr uint64_t bits() const { return bits_; }
  friend constexpr bool operator==(Value, Value) = default;

 private:
  [[nodiscard]] constexpr bool FitsHalf() const { return Is(Kind::kInt) && bits_ >> 34 == 0; }

  uint64_t bits_ = 0;
};
static_assert(sizeof(Value) == 8);

}  // namespace vramscope::snapshot
