// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/annotation.h"

#include <string.h>

#include <atomic>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/intern.h"
#include "injector/core/session.h"

namespace vramscope::injector::tensorflow {
namespace {

constexpr char kHookName[] = "TensorFlow's operator of each allocation";
constexpr char kCurrent[] = "_ZN3tsl8profiler27ScopedMemoryDebugAnnotation27ThreadMemoryDebugAnnotationEv";
constexpr char kConstruct[] =
    "_ZN3tsl8profiler27ScopedMemoryDebugAnnotationC2ESt17basic_string_viewIcSt11char_traitsIcEElS5_"
    "iOSt8functionIFNSt7__"
    "cxx1112basic_stringIcS4_SaIcEEEvEE";
constexpr char kDestruct[] = "_ZN3tsl8profiler27ScopedMemoryDebugAnnotationD2Ev";

using Current = const Annotation*();
using Construct = void(void* scoped, Text op, int64_t step, Text region, int32_t data_type, void* shape);
using Destruct = void(void* scoped);

enum class State : uint8_t { kUnknown, kProving, kProven, kUnfit };
constinit std::atomic<State> state = State::kUnknown;
constinit std::atomic<Current*> current = nullptr;

// A forked child defines its stacks anew.
constinit std::atomic<uint32_t> forks = 0;
void CountFork() { forks.fetch_add(1, std::memory_order_relaxed); }

bool Same(const Text& text, const Text& other) {
  return text.length == other.length && text.data == other.data;
}

// Returns why the layout is not the one that we know; nullptr if it is.
const char* Prove() {
  auto* const thread = reinterpret_cast<Current*>(FindSymbol(kCurrent));
  auto* const construct = reinterpret_cast<Construct*>(FindSymbol(kConstruct));
  auto* const destruct = reinterpret_cast<Destruct*>(FindSymbol(kDestruct));
  if (thread == nullptr || construct == nullptr || destruct == nullptr)
    return "this release of TensorFlow does not export it";
  static constexpr char kOp[] = "vramscope proves this operator";
  static constexpr char kRegion[] = "and this region";
  const Text op = {sizeof(kOp) - 1, kOp};
  const Text region = {sizeof(kRegion) - 1, kRegion};
  constexpr int64_t kStep = 0x5eed0123456789;
  constexpr int32_t kType = 0x71e5;
  const Annotation* const annotation = thread();
  const Annotation before = *annotation;
  alignas(16) unsigned char scoped[256] = {};  // 80 bytes are used
  alignas(16) unsigned char no_shape[64] = {};
  construct(scoped, op, kStep, region, kType, no_shape);
  const bool fits = Same(annotation->op, op) && annotation->step == kStep &&
                    Same(annotation->region, region) && annotation->data_type == kType;
  destruct(scoped);
  const bool restored = Same(annotation->op, before.op) && Same(annotation->region, before.region) &&
                        annotation->step == before.step && annotation->data_type == before.data_type;
  if (!fits || !restored) return "its layout in this release of TensorFlow is unknown";
  current.store(thread, std::memory_order_relaxed);
  return nullptr;
}

void ProveOnce() {
  State unknown = State::kUnknown;
  if (!state.compare_exchange_strong(unknown, State::kProving)) return;
  const char* const reason = Prove();
  AtForkInChild(CountFork);
  state.store(reason == nullptr ? State::kProven : State::kUnfit, std::memory_order_release);
  RecordCoverage(kHookName,
                 reason == nullptr ? trace::CoverageState::kProven : trace::CoverageState::kMissing, reason);
}

// The stacks that were used last, by the operator's text: the hash in the upper bits, the id in the lower
// ones. Shared by all threads, because a library that is loaded late has little room for thread-local
// variables.
constexpr size_t kKnownStacks = 4096;
constexpr uint64_t kIdMask = kMostStacks - 1;
constinit std::atomic<uint64_t> known_stacks[kKnownStacks] = {};

uint64_t HashOf(const Text& text, uint64_t seed) {
  uint64_t hash = seed ^ text.length;
  size_t at = 0;
  for (; at + 8 <= text.length; at += 8) {
    uint64_t word = 0;
    memcpy(&word, text.data + at, 8);
    hash = (hash ^ word) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 29;
  }
  uint64_t word = 0;
  memcpy(&word, text.data + at, text.length - at);
  hash = (hash ^ word) * 0x9e3779b97f4a7c15;
  return hash ^ hash >> 32;
}

bool IsOutput(const Text& region) {
  return region.length == 0 || (region.length == 6 && memcmp(region.data, "output", 6) == 0);
}

uint32_t MakeStack(const Text& op, const Text& region) {
  char text[512];
  const size_t length = op.length < 400 ? op.length : 400;
  memcpy(text, op.data, length);
  size_t end = length;
  if (!IsOutput(region) && region.length < 32) {
    text[end++] = ' ';
    text[end++] = '[';
    memcpy(text + end, region.data, region.length);
    end += region.length;
    text[end++] = ']';
  }
  const uint32_t frame = InternString(text, end);
  return frame == 0 ? 0 : InternStack(&frame, 1);
}

}  // namespace

const Annotation* CurrentAnnotation() {
  const State now = state.load(std::memory_order_acquire);
  if (__builtin_expect(now == State::kUnknown, 0)) ProveOnce();
  auto* const thread = current.load(std::memory_order_relaxed);
  return thread == nullptr ? nullptr : thread();
}

uint32_t OperatorStackId(const Annotation* annotation) {
  if (annotation == nullptr || annotation->op.length == 0) return 0;
  const uint64_t life = process_page.session.load(std::memory_order_relaxed) +
                        (uint64_t{forks.load(std::memory_order_relaxed)} << 32);
  const uint64_t region = IsOutput(annotation->region) ? 1 : HashOf(annotation->region, 2);
  const uint64_t hash = HashOf(annotation->op, region + life * 0x9e3779b97f4a7c15);
  std::atomic<uint64_t>& known = known_stacks[hash % kKnownStacks];
  const uint64_t word = known.load(std::memory_order_relaxed);
  if (((word ^ hash) & ~kIdMask) == 0 && (word & kIdMask) != 0) return static_cast<uint32_t>(word & kIdMask);
  const uint32_t id = MakeStack(annotation->op, annotation->region);
  if (id != 0) known.store((hash & ~kIdMask) | id, std::memory_order_relaxed);
  return id;
}

}  // namespace vramscope::injector::tensorflow
