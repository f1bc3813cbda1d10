// SPDX-License-Identifier: Apache-2.0
#include "injector/torch/range_hooks.h"

#include <unwind.h>

#include <atomic>

#include "injector/core/thread_ring.h"
#include "injector/torch/hook_table.h"

namespace vramscope::injector {
namespace {

constinit thread_local OpenRange* innermost __attribute__((tls_model("initial-exec"))) = nullptr;

constinit std::atomic<uint64_t> backward_passes = 0;

}  // namespace

uint64_t BackwardPasses() { return backward_passes.load(std::memory_order_relaxed); }

void BeginRange(OpenRange& range) {
  range.outer = innermost;
  innermost = &range;
  Record(trace::EventType::kRangeBegin, static_cast<uint16_t>(range.kind), range.name, range.id);
}

void EndRange() {
  const OpenRange* const range = innermost;
  if (range == nullptr) return;
  innermost = range->outer;
  Record(trace::EventType::kRangeEnd, static_cast<uint16_t>(range->kind), range->name, range->id);
}

// Called twice per exception: first to look for a handler, then, if there is one further out, to clean up.
extern "C" __attribute__((visibility("hidden"), used)) _Unwind_Reason_Code vramscope_range_personality(
    int, _Unwind_Action actions, _Unwind_Exception_Class, _Unwind_Exception*, _Unwind_Context*) {
  if ((actions & _UA_CLEANUP_PHASE) != 0) EndRange();
  return _URC_CONTINUE_UNWIND;
}

TensorVector EngineExecute(void* engine, const void* roots, const void* inputs, bool keep_graph,
                           bool create_graph, bool accumulate, const void* outputs) {
  VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND();
  OpenRange range = {nullptr, trace::RangeKind::kBackward, 0, reinterpret_cast<uint64_t>(engine)};
  auto* const real = RealEngineExecute();
  BeginRange(range);
  TensorVector result = real(engine, roots, inputs, keep_graph, create_graph, accumulate, outputs);
  EndRange();
  backward_passes.fetch_add(1, std::memory_order_relaxed);
  return result;
}

void GraphReplay(void* graph) {
  VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND();
  OpenRange range = {nullptr, trace::RangeKind::kGraphReplay, 0, reinterpret_cast<uint64_t>(graph)};
  auto* const real = RealGraphReplay();
  BeginRange(range);
  real(graph);
  EndRange();
}

}  // namespace vramscope::injector
