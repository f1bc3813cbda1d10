// SPDX-License-Identifier: Apache-2.0
// Optimizer windows and steps of C++ programs (torch::optim). For Python programs, the shim reports them.
//
// Steps of the training loop, for the deep window: a step is done when every optimizer seen so far has
// stepped once more, so a GAN's two optimizers make one step together. profiler/ later derives the exact
// steps from the windows themselves.
#include <pthread.h>

#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"
#include "injector/torch/deep_window.h"
#include "injector/torch/hook_table.h"
#include "injector/torch/range_hooks.h"
#include "injector/torch/readiness.h"
#include "trace_format/event.h"

namespace vramscope::injector {
namespace {

constexpr size_t kMostOptimizers = 64;

struct Counted {
  const void* optimizer;
  uint64_t steps;
};

struct StepCounts {
  Counted optimizers[kMostOptimizers];
  size_t count;
};
constinit StepCounts counts = {};
constinit pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;

// In a forked child; a thread that does not exist in it may have held the lock.
void ResetCountsLock() { counts_lock = PTHREAD_MUTEX_INITIALIZER; }

// Counts a step of this optimizer; `all` becomes the number of steps that every optimizer has done.
uint64_t CountStep(const void* optimizer, uint64_t& all) {
  pthread_mutex_lock(&counts_lock);
  if (counts.count == 0) AtForkInChild(ResetCountsLock);
  Counted* own = nullptr;
  for (size_t i = 0; i < counts.count; ++i) {
    if (counts.optimizers[i].optimizer == optimizer) own = &counts.optimizers[i];
  }
  if (own == nullptr && counts.count < kMostOptimizers) {
    own = &counts.optimizers[counts.count++];
    *own = {optimizer, 0};
  }
  const uint64_t steps = own == nullptr ? 0 : ++own->steps;
  all = UINT64_MAX;
  for (size_t i = 0; i < counts.count; ++i) {
    if (counts.optimizers[i].steps < all) all = counts.optimizers[i].steps;
  }
  pthread_mutex_unlock(&counts_lock);
  return steps;
}

void StepEnded(const void* optimizer, uint32_t name) {
  uint64_t all = 0;
  const uint64_t steps = CountStep(optimizer, all);
  Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kOptimizerStepDone), name, steps,
         reinterpret_cast<uint64_t>(optimizer));
  CxxProgramReady();
  if (steps == all) StepDoneInCxx(all);
}

TensorResult Step(TensorResult (*real)(void*, void*), const char* name, void* optimizer, void* closure) {
  VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND();
  OpenRange range = {nullptr, trace::RangeKind::kOptimizer, InternString(name),
                     reinterpret_cast<uint64_t>(optimizer)};
  BeginRange(range);
  TensorResult result = real(optimizer, closure);
  EndRange();
  StepEnded(optimizer, range.name);
  return result;
}

}  // namespace

TensorResult SGDStep(void* optimizer, void* closure) {
  return Step(RealSGDStep(), "SGD", optimizer, closure);
}
TensorResult AdamStep(void* optimizer, void* closure) {
  return Step(RealAdamStep(), "Adam", optimizer, closure);
}
TensorResult AdamWStep(void* optimizer, void* closure) {
  return Step(RealAdamWStep(), "AdamW", optimizer, closure);
}
TensorResult LBFGSStep(void* optimizer, void* closure) {
  return Step(RealLBFGSStep(), "LBFGS", optimizer, closure);
}
TensorResult AdagradStep(void* optimizer, void* closure) {
  return Step(RealAdagradStep(), "Adagrad", optimizer, closure);
}
TensorResult RMSpropStep(void* optimizer, void* closure) {
  return Step(RealRMSpropStep(), "RMSprop", optimizer, closure);
}

void OptimizerZeroGrad(void* optimizer, bool set_to_none) {
  VRAMSCOPE_ENDS_RANGE_WHEN_UNWOUND();
  OpenRange range = {nullptr, trace::RangeKind::kZeroGrad, 0, reinterpret_cast<uint64_t>(optimizer)};
  BeginRange(range);
  RealOptimizerZeroGrad()(optimizer, set_to_none);
  EndRange();
  Record(trace::EventType::kMark, static_cast<uint16_t>(trace::MarkKind::kZeroGrad), 0, set_to_none ? 1 : 0,
         reinterpret_cast<uint64_t>(optimizer));
}

}  // namespace vramscope::injector
