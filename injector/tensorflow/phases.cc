// SPDX-License-Identifier: Apache-2.0
#include "injector/tensorflow/phases.h"

#include <string.h>

#include "injector/core/api.h"
#include "injector/core/hot.h"
#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector::tensorflow {

VRAMSCOPE_HOT constinit std::atomic<Phase> phase = Phase::kNone;

namespace {

constexpr char kCounterName[] = "step.phase";
constexpr char kGradient[] = "gradient_tape/";
constexpr size_t kLongestScope = 64;
constexpr auto kNoDevice = static_cast<uint16_t>(trace::DeviceCode(0, 0xff));

// The name scope of the optimizer whose step runs, such as "adam/". Written while `phase` is kNone; a second
// step that begins on another thread meanwhile is not followed.
constinit char scope[kLongestScope + 2] = {};
constinit size_t scope_length = 0;

void Enter(Phase next) {
  if (phase.load(std::memory_order_relaxed) == next) return;
  const Phase before = phase.exchange(next, std::memory_order_acq_rel);
  if (before == next) return;
  Record(trace::EventType::kCounter, kNoDevice, InternString(kCounterName, sizeof(kCounterName) - 1),
         static_cast<uint64_t>(next));
}

// True if `part`, which ends with a slash, begins `text` or follows a slash in it.
bool HasScope(const Text& text, const char* part, size_t length) {
  const char* const found = static_cast<const char*>(memmem(text.data, text.length, part, length));
  return found != nullptr && (found == text.data || found[-1] == '/');
}

}  // namespace

void BeginTracedStep(const char* name) {
  const size_t length = strlen(name);
  if (length == 0 || length > kLongestScope || phase.load(std::memory_order_acquire) != Phase::kNone) return;
  memcpy(scope, name, length);
  scope[length] = '/';
  scope_length = length + 1;
  Enter(Phase::kForward);
}

void EndTracedStep() { Enter(Phase::kNone); }

void FollowPhase(const Text& op) {
  if (HasScope(op, kGradient, sizeof(kGradient) - 1)) {
    Enter(Phase::kBackward);
  } else if (phase.load(std::memory_order_relaxed) != Phase::kForward && HasScope(op, scope, scope_length)) {
    Enter(Phase::kOptimizer);
  }
}

}  // namespace vramscope::injector::tensorflow

extern "C" __attribute__((visibility("default"))) void vramscope_tensorflow_step_begin(
    const char* optimizer_scope) {
  vramscope::injector::tensorflow::BeginTracedStep(optimizer_scope);
}

extern "C" __attribute__((visibility("default"))) void vramscope_tensorflow_step_end(void) {
  vramscope::injector::tensorflow::EndTracedStep();
}
