// SPDX-License-Identifier: Apache-2.0
#include "injector/jax/steps.h"

#include <atomic>

#include "injector/core/api.h"
#include "injector/core/thread_ring.h"
#include "trace_format/event.h"

namespace vramscope::injector::jax {
namespace {

constexpr auto kParameter = static_cast<uint32_t>(trace::Role::kParameter);
constexpr auto kOptimizerState = static_cast<uint16_t>(trace::Role::kOptimizerState);

constinit std::atomic<uint64_t> steps_done = 0;
// A program has computed the gradients of a step that has not ended: its name, interned. 0 = none.
constinit std::atomic<uint32_t> unfinished = 0;
constinit std::atomic<uint32_t> parameter_serial = 0;  // of the first parameter of the last step part

void StepIsDone(uint32_t name, uint64_t identity) {
  unfinished.store(0, std::memory_order_relaxed);
  const uint64_t done = steps_done.fetch_add(1, std::memory_order_relaxed) + 1;
  Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kOptimizerStepDone), name, done,
         identity);
}

// 0 if the program has no parameter that is known.
uint32_t SerialOfParameter(const ExecuteArguments& arguments, const Description& description) {
  for (size_t i = 0; i < arguments.input_count; ++i) {
    Block block = {};
    if (description.labels[i].role != kParameter) continue;
    return FindBuffer(arguments.inputs[0][i], &block) ? block.serial : 0;
  }
  return 0;
}

}  // namespace

uint32_t StateOfArguments(const ExecuteArguments& arguments, size_t device) {
  uint32_t state = 0;
  uint64_t largest = 0;
  for (size_t i = 0; i < arguments.input_count; ++i) {
    const Buffer* const buffer = arguments.inputs[device][i];
    Block block = {};
    if (!FindBuffer(buffer, &block) || block.state == 0) continue;
    if (block.role == 0 && block.update < UpdatesSoFar()) LabelBuffer(buffer, kOptimizerState, block.state);
    if (block.bytes <= largest) continue;
    largest = block.bytes;
    state = block.state;
  }
  return state;
}

void BeginStepPart(const ExecuteArguments& arguments, const Description& description) {
  if (arguments.device_count == 0) return;
  const uint32_t serial = SerialOfParameter(arguments, description);
  if (serial == 0 || parameter_serial.exchange(serial, std::memory_order_relaxed) == serial) return;
  NextUpdate();
  const uint32_t name = unfinished.load(std::memory_order_relaxed);
  if (name != 0) StepIsDone(name, 0);
}

void EndStepPart(const Program& program) {
  if (program.description->step == StepPart::kGradients)
    unfinished.store(program.name, std::memory_order_relaxed);
  else if (program.description->step == StepPart::kEnds)
    StepIsDone(program.name, reinterpret_cast<uint64_t>(program.description));
}

}  // namespace vramscope::injector::jax

extern "C" __attribute__((visibility("default"))) uint64_t vramscope_jax_steps(void) {
  return vramscope::injector::jax::steps_done.load(std::memory_order_relaxed);
}

extern "C" __attribute__((visibility("default"))) void vramscope_jax_finish(void) {
  using namespace vramscope::injector::jax;
  if (const uint32_t name = unfinished.load(std::memory_order_relaxed)) StepIsDone(name, 0);
}
