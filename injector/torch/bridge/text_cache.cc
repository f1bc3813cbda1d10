// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/bridge/text_cache.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "injector/torch/bridge/host.h"

namespace vramscope::bridge {
namespace {

// c10::ScalarType, whose numbers are part of saved models and never change (c10/core/ScalarType.h, 2.2
// to 2.15).
// clang-format off
constexpr const char* kDtypes[] = {
    "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "complex32", "complex64",
    "complex128", "bool", "qint8", "quint8", "qint32", "bfloat16", "quint4x2", "quint2x4", "bits1x8", "bits2x4",
    "bits4x2", "bits8", "bits16", "float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz",
    "uint16", "uint32", "uint64", "uint1", "uint2", "uint3", "uint4", "uint5", "uint6", "uint7",
    "int1", "int2", "int3", "int4", "int5", "int6", "int7", "float8_e8m0fnu", "float4_e2m1fn_x2", "bcomplex32"};
// clang-format on
// c10::MemoryFormat and c10::Layout.
constexpr const char* kMemoryFormats[] = {"contiguous_format", "preserve_format", "channels_last",
                                          "channels_last_3d"};
constexpr const char* kLayouts[] = {"strided",    "sparse_coo", "sparse_csr", "_mkldnn",
                                    "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", value);
  return text;
}

template <size_t kCount>
std::string Enumerator(const char* const (&names)[kCount], const char* kind, int64_t value) {
  if (value >= 0 && static_cast<size_t>(value) < kCount) return std::string("torch.") + names[value];
  return std::string(kind) + " " + std::to_string(value);
}

double AsDouble(int64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

template <typename Item>
std::string Joined(const int64_t* numbers, size_t count, Item item) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0) text += ',';
    text += item(numbers[i]);
  }
  return text;
}

std::string BoolText(int64_t value) { return value != 0 ? "True" : "False"; }
std::string IntText(int64_t value) { return std::to_string(value); }
std::string DoubleText(int64_t bits) { return Number(AsDouble(bits)); }

std::string Text(TextKind kind, const int64_t* numbers, size_t count) {
  switch (kind) {
    case TextKind::kUnused:
      return {};
    case TextKind::kDims:
      return Joined(numbers, count, IntText);
    case TextKind::kIntList:
      return "[" + Joined(numbers, count, IntText) + "]";
    case TextKind::kBoolList:
      return "[" + Joined(numbers, count, BoolText) + "]";
    case TextKind::kDoubleList:
      return "[" + Joined(numbers, count, DoubleText) + "]";
    case TextKind::kInt:
      return IntText(numbers[0]);
    case TextKind::kBool:
      return BoolText(numbers[0]);
    case TextKind::kDouble:
      return DoubleText(numbers[0]);
    case TextKind::kDtype:
      return Enumerator(kDtypes, "dtype", numbers[0]);
    case TextKind::kMemoryFormat:
      return Enumerator(kMemoryFormats, "memory format", numbers[0]);
    case TextKind::kLayout:
      return Enumerator(kLayouts, "layout", numbers[0]);
  }
  return {};
}

uint32_t Intern(std::string_view text) { return g_host->intern(text.data(), text.size()); }

// The multiplier of splitmix64: enough mixing for small tables of small numbers.
uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0xbf58476d1ce4e5b9;
  return hash ^ (hash >> 29);
}

}  // namespace

uint32_t TextCache::Id(TextKind kind, const int64_t* numbers, size_t count) {
  if (count > kMaxNumbers) return Intern(Text(kind, numbers, count));
  uint64_t hash = Mix(static_cast<uint64_t>(kind), count);
  for (size_t i = 0; i < count; ++i) hash = Mix(hash, static_cast<uint64_t>(numbers[i]));
  Slot& slot = slots_[hash % kSlots];
  if (slot.kind == kind && slot.count == count && std::equal(numbers, numbers + count, slot.numbers.begin()))
    return slot.id;
  slot.id = Intern(Text(kind, numbers, count));
  slot.kind = kind;
  slot.count = static_cast<uint8_t>(count);
  std::copy(numbers, numbers + count, slot.numbers.begin());
  return slot.id;
}

uint32_t NameCache::Id(std::string_view name) {
  Slot& slot = slots_[std::hash<std::string_view>{}(name) % kSlots];
  if (slot.id == 0 || slot.name != name) {
    slot.name = name;
    slot.id = Intern(name);
  }
  return slot.id;
}

}  // namespace vramscope::bridge
