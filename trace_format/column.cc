// SPDX-License-Identifier: Apache-2.0
#include "trace_format/column.h"

#include <algorithm>
#include <array>

#include "trace_format/check.h"

namespace vramscope::trace {
namespace {

constexpr size_t kMaxDictionary = 256;

int WidthOf(uint64_t all_bits) { return std::max(1, (64 - std::countl_zero(all_bits) + 7) / 8); }

// The distinct values of a column in the order of their first occurrence, as long as they are few.
class DictionaryBuilder {
 public:
  // The dictionary index of each value; empty if there are more than 256 distinct values.
  Bytes PlacesOf(std::span<const uint64_t> values) {
    Bytes places(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      const int place = PlaceOf(values[i]);
      if (place < 0) return {};
      places[i] = static_cast<std::byte>(place);
    }
    return places;
  }

  std::span<const uint64_t> distinct() const { return std::span(distinct_).first(count_); }

 private:
  int PlaceOf(uint64_t value) {
    size_t slot = (value * 0x9E3779B97F4A7C15) >> 54;
    while (slots_[slot] != 0) {
      const size_t place = slots_[slot] - 1u;
      if (distinct_[place] == value) return static_cast<int>(place);
      slot = (slot + 1) % slots_.size();
    }
    if (count_ == kMaxDictionary) return -1;
    distinct_[count_] = value;
    slots_[slot] = static_cast<uint16_t>(++count_);
    return static_cast<int>(count_ - 1);
  }

  std::array<uint16_t, 1024> slots_{};  // place + 1; a quarter full at most
  std::array<uint64_t, kMaxDictionary> distinct_;
  size_t count_ = 0;
};

Storage PutPlanes(std::span<const uint64_t> values, int width, Bytes* out) {
  const size_t start = out->size();
  out->resize(start + values.size() * static_cast<size_t>(width));
  std::byte* plane = out->data() + start;
  for (int shift = 0; shift < width * 8; shift += 8, plane += values.size()) {
    for (size_t i = 0; i < values.size(); ++i) plane[i] = static_cast<std::byte>(values[i] >> shift);
  }
  return static_cast<Storage>(width);
}

}  // namespace

Storage EncodePlanes(std::span<const uint64_t> values, Bytes* out) {
  uint64_t all_bits = 0;
  for (const uint64_t value : values) all_bits |= value;
  return PutPlanes(values, WidthOf(all_bits), out);
}

Storage EncodeColumn(std::span<const uint64_t> values, Bytes* out) {
  VRAMSCOPE_CHECK(!values.empty());
  uint64_t all_bits = 0;
  uint64_t differing_bits = 0;
  for (const uint64_t value : values) {
    all_bits |= value;
    differing_bits |= value ^ values[0];
  }
  if (differing_bits == 0) {
    PutVarint(values[0], out);
    return Storage::kConstant;
  }
  const int width = WidthOf(all_bits);
  if (width > 1) {
    DictionaryBuilder dictionary;
    const Bytes places = dictionary.PlacesOf(values);
    // A value in the dictionary costs up to ten bytes once; an index saves width - 1 bytes each time.
    if (!places.empty() && dictionary.distinct().size() * 2 <= values.size()) {
      PutVarint(dictionary.distinct().size(), out);
      for (const uint64_t value : dictionary.distinct()) PutVarint(value, out);
      PutBytes(places, out);
      return Storage::kDictionary;
    }
  }
  return PutPlanes(values, width, out);
}

std::optional<ColumnReader> ColumnReader::Open(Storage storage, uint64_t count, ByteView bytes) {
  ColumnReader column;
  column.storage_ = storage;
  column.count_ = count;
  if (storage >= Storage::kPlanes1 && storage <= Storage::kPlanes8) {
    if (count > bytes.size() || bytes.size() != count * static_cast<uint64_t>(storage)) return std::nullopt;
    column.bytes_ = bytes.data();
    return column;
  }
  ByteCursor cursor(bytes);
  if (storage == Storage::kConstant) {
    column.constant_ = cursor.Varint();
    if (!cursor.ok() || cursor.remaining() != 0) return std::nullopt;
    return column;
  }
  if (storage != Storage::kDictionary) return std::nullopt;
  const uint64_t distinct = cursor.Varint();
  if (distinct > kMaxDictionary) return std::nullopt;
  column.dictionary_.resize(kMaxDictionary);
  for (uint64_t place = 0; place < distinct; ++place) column.dictionary_[place] = cursor.Varint();
  if (!cursor.ok() || cursor.remaining() != count) return std::nullopt;
  column.bytes_ = bytes.data() + (bytes.size() - count);
  return column;
}

template <int kWidth>
void ColumnReader::ReadPlanes(uint64_t* values, size_t count) const {
  const std::byte* plane = bytes_ + position_;
  for (size_t i = 0; i < count; ++i) {
    uint64_t value = 0;
    for (int byte = 0; byte < kWidth; ++byte) {
      value |= static_cast<uint64_t>(plane[static_cast<size_t>(byte) * count_ + i]) << (8 * byte);
    }
    values[i] = value;
  }
}

void ColumnReader::Read(std::span<uint64_t> values) {
  const size_t count = std::min<uint64_t>(values.size(), remaining());
  std::fill(values.begin() + static_cast<ptrdiff_t>(count), values.end(), 0);
  switch (static_cast<int>(storage_)) {
    case 0:
      std::fill_n(values.begin(), count, constant_);
      break;
    case 1:
      ReadPlanes<1>(values.data(), count);
      break;
    case 2:
      ReadPlanes<2>(values.data(), count);
      break;
    case 3:
      ReadPlanes<3>(values.data(), count);
      break;
    case 4:
      ReadPlanes<4>(values.data(), count);
      break;
    case 5:
      ReadPlanes<5>(values.data(), count);
      break;
    case 6:
      ReadPlanes<6>(values.data(), count);
      break;
    case 7:
      ReadPlanes<7>(values.data(), count);
      break;
    case 8:
      ReadPlanes<8>(values.data(), count);
      break;
    default:
      for (size_t i = 0; i < count; ++i) values[i] = dictionary_[static_cast<uint8_t>(bytes_[position_ + i])];
  }
  position_ += count;
}

}  // namespace vramscope::trace
