// SPDX-License-Identifier: Apache-2.0
// Caches the host's ids of repeated texts: shapes, scalar arguments, names.
//
// The host's intern() takes a lock and hashes the text. Each thread maps numbers to ids without building
// texts.
//
//   hash(kind, numbers) % kSlots ─► │ kind │ count │ numbers[0..7] │ id │    on a collision the newest stays
//
// No torch headers: compiles fast, once per release.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace vramscope::bridge {

// How a row of numbers is written as text.
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
  // The host's id of `count` numbers written as `kind`. More than kMaxNumbers numbers are not cached.
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

// One thread's table of temporary texts, such as names of autograd nodes. Not thread-safe.
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
