// SPDX-License-Identifier: Apache-2.0
// The function behind vramscope/annotate.h. Its ranges, marks and names become the same events as those of
// NVTX (handlers.h), so that every view of a trace shows them in the same places.
#include <string.h>

#include <atomic>

#include "injector/annotate/vramscope/annotate.h"
#include "injector/core/own_recording.h"
#include "injector/core/session.h"
#include "injector/core/thread_ring.h"
#include "injector/nvtx/names.h"
#include "injector/nvtx/open_ranges.h"

namespace vramscope::injector::nvtx {
namespace {

constexpr auto kRange = static_cast<uint16_t>(trace::RangeKind::kNvtx);
constexpr auto kUserMark = static_cast<uint16_t>(trace::MarkKind::kUser);
constexpr auto kNamedMemory = static_cast<uint16_t>(trace::Role::kNamed);
constexpr auto kNameSource = static_cast<uint64_t>(trace::LabelSource::kNvtx);

// Pushed ranges have a stack of their own: unbalanced NVTX ranges of a library do not end those of the
// program.
constexpr char kDomainOfAnnotations = 0;

// Differs from the numbers of NVTX ranges (range_handlers.cc), so that all numbers are unique.
constexpr uint64_t kFirstRangeId = 0x616e6e6f00000000;
constinit std::atomic<uint32_t> annotation_ranges = 0;

bool Records() { return RecordingFile() != nullptr || StartSession(); }

// nullptr: no name, or this process is not recorded.
const Name* NameFor(const char* text) { return text == nullptr ? nullptr : FindName(text, strlen(text)); }

void PushNamed(const char* text) {
  const Name* const name = NameFor(text);
  bool recorded = false;
  PushRange(&kDomainOfAnnotations, name == nullptr ? 0 : name->id, recorded);
  if (recorded && name != nullptr) Record(trace::EventType::kRangeBegin, kRange, name->id, 0);
}

void PopLast() {
  const Popped popped = PopRange(&kDomainOfAnnotations);
  if (popped.name != 0) Record(trace::EventType::kRangeEnd, kRange, popped.name, 0);
}

uint64_t BeginNamed(const char* text) {
  const Name* const name = NameFor(text);
  if (name == nullptr) return 0;
  const uint64_t id = kFirstRangeId | (annotation_ranges.fetch_add(1, std::memory_order_relaxed) + 1);
  Record(trace::EventType::kRangeBegin, kRange, name->id, id);
  return id;
}

void SetMark(const char* text, uint64_t value) {
  if (const Name* const name = NameFor(text)) Record(trace::EventType::kMark, kUserMark, name->id, value, 0);
}

void NameMemory(const char* text, uint64_t address, uint64_t bytes) {
  const Name* const name = NameFor(text);
  if (address == 0 || (text != nullptr && name == nullptr)) return;
  Record(trace::EventType::kLabel, kNamedMemory, name == nullptr ? 0 : name->id, address, bytes, 0,
         kNameSource);
}

}  // namespace
}  // namespace vramscope::injector::nvtx

extern "C" __attribute__((visibility("default"))) uint64_t vramscope_annotate(uint32_t annotation,
                                                                              const char* name,
                                                                              uint64_t first,
                                                                              uint64_t second) {
  using namespace vramscope::injector;
  const bool records = nvtx::Records();
  switch (annotation) {
    case VRAMSCOPE_PUSH_RANGE:
      nvtx::PushNamed(name);
      return 0;
    case VRAMSCOPE_POP_RANGE:
      nvtx::PopLast();
      return 0;
    case VRAMSCOPE_BEGIN_RANGE:
      return nvtx::BeginNamed(name);
    case VRAMSCOPE_END_RANGE:
      if (records && first != 0) Record(vramscope::trace::EventType::kRangeEnd, nvtx::kRange, 0, first);
      return 0;
    case VRAMSCOPE_SET_MARK:
      nvtx::SetMark(name, first);
      return 0;
    case VRAMSCOPE_NAME_MEMORY:
      nvtx::NameMemory(name, first, second);
      return 0;
    case VRAMSCOPE_IS_RECORDING:
      return records ? 1 : 0;
    case VRAMSCOPE_START:
      return StartOwnRecording(name) ? 1 : 0;
    case VRAMSCOPE_STOP:
      return StopOwnRecording() ? 1 : 0;
    default:
      return 0;
  }
}
