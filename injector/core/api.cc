// SPDX-License-Identifier: Apache-2.0
// Implements the part of api.h that needs no framework. The hooks of each framework implement the rest.
#include "injector/core/api.h"

#include "injector/core/coverage.h"
#include "injector/core/dormant.h"
#include "injector/core/intern.h"
#include "injector/core/options.h"
#include "injector/core/thread_ring.h"

#define VRAMSCOPE_API extern "C" __attribute__((visibility("default")))

using vramscope::injector::InDeepWindow;
using vramscope::injector::InternStack;
using vramscope::injector::InternString;
using vramscope::injector::Record;
using vramscope::injector::RecordCoverage;
using vramscope::injector::RecordingFile;
using vramscope::injector::RecordWords;
using vramscope::injector::StartSession;
using vramscope::trace::CoverageState;
using vramscope::trace::EventType;

namespace {

constexpr bool IsDeepFact(uint8_t type) {
  return type >= static_cast<uint8_t>(EventType::kOpBegin) &&
         type <= static_cast<uint8_t>(EventType::kNodeEnd);
}

}  // namespace

VRAMSCOPE_API int vramscope_recording(void) { return RecordingFile() != nullptr || StartSession() ? 1 : 0; }

VRAMSCOPE_API void vramscope_wait_for_start(void) {
  if (!vramscope::injector::SessionIsWanted()) vramscope::injector::OpenDoor();
}

VRAMSCOPE_API uint32_t vramscope_intern(const char* text, size_t length) {
  return InternString(text, length);
}

VRAMSCOPE_API uint32_t vramscope_intern_stack(const uint32_t* frames, size_t count) {
  return InternStack(frames, count);
}

VRAMSCOPE_API void vramscope_range_begin(uint32_t kind, uint32_t name, uint64_t id) {
  Record(EventType::kRangeBegin, static_cast<uint16_t>(kind), name, id);
}

VRAMSCOPE_API void vramscope_range_end(uint32_t kind, uint32_t name, uint64_t id) {
  Record(EventType::kRangeEnd, static_cast<uint16_t>(kind), name, id);
}

VRAMSCOPE_API void vramscope_mark(uint32_t kind, uint64_t value, uint32_t name, uint64_t tensor) {
  Record(EventType::kMark, static_cast<uint16_t>(kind), name, value, tensor);
}

VRAMSCOPE_API void vramscope_label(uint32_t role, uint32_t source, uint64_t address, uint64_t bytes,
                                   uint32_t name, uint64_t tensor) {
  Record(EventType::kLabel, static_cast<uint16_t>(role), name, address, bytes, tensor, source);
}

VRAMSCOPE_API void vramscope_coverage(const char* hook, uint32_t state, const char* detail) {
  if (hook != nullptr) RecordCoverage(hook, static_cast<CoverageState>(state), detail);
}

VRAMSCOPE_API void vramscope_record(uint8_t type, uint16_t small, uint32_t id, const uint64_t* words,
                                    size_t word_count) {
  if (type == 0 || type >= vramscope::trace::kEventTypeCount ||
      word_count > vramscope::trace::kMaxEventFields)
    return;
  // A child forked in a deep window inherits the bridge's callbacks, but not the window.
  if (IsDeepFact(type) && !InDeepWindow()) return;
  RecordWords(type, small, id, words, word_count);
}

VRAMSCOPE_API size_t vramscope_option(const char* key, char* buffer, size_t capacity) {
  if (key == nullptr || buffer == nullptr) return 0;
  return vramscope::injector::Option(key, buffer, capacity);
}

VRAMSCOPE_API int vramscope_deep(void) { return InDeepWindow() ? 1 : 0; }
