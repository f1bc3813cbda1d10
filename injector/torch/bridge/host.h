// SPDX-License-Identifier: Apache-2.0
// How the bridge records an event: it writes one raw record through the injector's functions (VramscopeHost).
//
// kRawLayout (trace_format/raw_record.h) defines where each field is in the record. It is read at compile
// time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/core/api.h"
#include "trace_format/event.h"
#include "trace_format/raw_record.h"

namespace vramscope::bridge {

// Set once by vramscope_bridge_start. Never cleared: callbacks may outlive vramscope_bridge_enable(0).
inline const VramscopeHost* g_host = nullptr;

// Records one event of the calling thread. `fields`: all fields of kEventSchema[kType], in that order.
template <trace::EventType kType, typename... Fields>
inline void Emit(Fields... fields) {
  constexpr size_t kIndex = static_cast<size_t>(kType);
  constexpr trace::RawLayout kLayout = trace::kRawLayout[kIndex];
  static_assert(sizeof...(Fields) == trace::kEventSchema[kIndex].field_count,
                "give every field of the event");

  const uint64_t field[sizeof...(Fields) + 1] = {static_cast<uint64_t>(fields)...};
  uint16_t small = 0;
  uint32_t id = 0;
  if constexpr (kLayout.small_field != trace::kNoField)
    small = static_cast<uint16_t>(field[kLayout.small_field]);
  if constexpr (kLayout.id_field != trace::kNoField) id = static_cast<uint32_t>(field[kLayout.id_field]);
  uint64_t words[trace::kMaxEventFields];
  for (size_t i = 0; i < kLayout.word_count; ++i) words[i] = field[kLayout.word_field[i]];
  g_host->record(static_cast<uint8_t>(kType), small, id, words, kLayout.word_count);
}

}  // namespace vramscope::bridge
