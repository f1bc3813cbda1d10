// SPDX-License-Identifier: Apache-2.0
#include "trace_format/raw_decode.h"

#include <algorithm>
#include <cstddef>

#include "trace_format/check.h"

namespace vramscope::trace {
namespace {

constexpr size_t kFirstWord = offsetof(RawRecord, word);

}  // namespace

RawIterator::RawIterator(std::span<const std::byte> bytes) : bytes_(bytes) {
  VRAMSCOPE_CHECK(reinterpret_cast<uintptr_t>(bytes.data()) % alignof(RawRecord) == 0);
}

const RawRecord* RawIterator::Next() {
  while (bytes_.size() >= kRawUnitBytes) {
    const auto* record = reinterpret_cast<const RawRecord*>(bytes_.data());
    const size_t length = record->units * kRawUnitBytes;
    if (length == 0 || length > bytes_.size()) return nullptr;
    bytes_ = bytes_.subspan(length);
    if (record->type != kRawPadding) return record;
  }
  return nullptr;
}

std::span<const uint64_t> RawWords(const RawRecord& record) {
  const auto* first =
      reinterpret_cast<const uint64_t*>(reinterpret_cast<const std::byte*>(&record) + kFirstWord);
  return {first, (record.units * kRawUnitBytes - kFirstWord) / sizeof(uint64_t)};
}

std::string_view RawText(const RawRecord& record) {
  const auto bytes = std::as_bytes(RawWords(record).subspan(1));
  return {reinterpret_cast<const char*>(bytes.data()), std::min<size_t>(record.word[0], bytes.size())};
}

std::span<const uint64_t> RawFrames(const RawRecord& record) {
  const auto frames = RawWords(record).subspan(1);
  return frames.first(std::min<size_t>(record.word[0], frames.size()));
}

void DecodeRaw(const RawRecord* record, Event* event) {
  *event = {};
  const uint8_t type = record->type == kRawHeldBlock ? static_cast<uint8_t>(EventType::kAlloc) : record->type;
  if (type >= kEventTypeCount || kEventSchema[type].name == nullptr) return;
  event->type = static_cast<EventType>(type);
  const RawLayout& layout = kRawLayout[type];
  if (layout.small_field != kNoField) event->field[layout.small_field] = record->small;
  if (layout.id_field != kNoField) event->field[layout.id_field] = record->id;
  const auto words = RawWords(*record);
  const size_t count = std::min<size_t>(layout.word_count, words.size());
  for (size_t i = 0; i < count; ++i) event->field[layout.word_field[i]] = words[i];
}

}  // namespace vramscope::trace
