// SPDX-License-Identifier: Apache-2.0
// Caches the string ids of texts that are recorded repeatedly: shapes, scalar arguments, names.
//
// The recorder's intern() takes a lock and hashes the text. This cache maps the numbers of a shape directly
// to the id, in one table per thread, so that no text is built.
//
//   hash(kind, numbers) % kSlots ─► │ kind │ count │ numbers[0..7] │ id │    a collision replaces the entry
//
// This header includes no PyTorch headers, so it compiles fast. The header is compiled once per PyTorch
// release.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::bridge {

// The format in which a list of numbers is written as text.
enum class TextKind : uint8_t {
  kUnused = 0,
  kDims,          // 8,128,256      (shapes and strides; "" for a scalar)
  kIntList,       // [8,128,-1]
  kBoolList,      // [True,False]
  kDoubleList,    // [2,0.5]        (numbers are the bits of doubles)
  kInt,           // -1
  kBool,          // True
  kDouble,        // 0.5
  kDtype,         // torch.bfloat16 (c10::ScalarType)
  kMemoryFormat,  // torch.channels_last
  kLayout,        // torch.sparse_coo
};

// One thread's table of numbers; about 40 KiB. Not thread-safe.
class TextCache {
 public:
  // Returns the string id of `count` numbers, written in the format `kind`. More than kMaxNumbers numbers are
  // not cached.
  uint32_t Id(TextKind kind, const int64_t* numbers, size_t count);
  uint32_t Id(TextKind kind, int64_t number) { return Id(kind, &number, 1); }

 private:
  static constexpr size_t kSlots = 512;
  static constexpr size_t kMaxNumbers = 8;
  struct Slot {
    TextKind kind = TextKind::kUnused;
    uint8_t count = 0;
    uint32_t id = 0;
    std::array<int64_t, kMaxNumbers> numbers{};
  };
  std::array<Slot, kSlots> slots_;
};

// One thread's cache for texts that do not stay in memory, such as names of autograd nodes. Not thread-safe.
class NameCache {
 public:
  uint32_t Id(std::string_view name);

 private:
  static constexpr size_t kSlots = 256;
  struct Slot {
    std::string name;
    uint32_t id = 0;
  };
  std::array<Slot, kSlots> slots_;
};

}  // namespace vramscope::bridge
