// SPDX-License-Identifier: Apache-2.0
// Steps and phases of a training process, found without any annotation.
//
//   ┌ setup ┬──────────────── step 1 ─────────────────┬───────────── step 2 ─────────────┬ after
//   │       │ data  prepare  forward  backward  update │ data ... (evaluation) ... update │
//
// Spans cover the whole trace without gaps. A span has a phase and a part. Phases are shown to users. Parts
// are finer, for categories.
//
// Also handles gradient accumulation, several optimizers, LBFGS (forward and backward inside step()),
// evaluation, and an interrupted last step. Rules: training.cc and forward_begin.h.
#pragma once

#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/step_ends.h"
#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

enum class Phase : uint8_t { kOther, kData, kForward, kBackward, kOptimizer };
inline constexpr size_t kPhaseCount = 5;
// "other", "data", "forward", "backward", "optimizer"
[[nodiscard]] const char* PhaseName(Phase phase);

enum class Part : uint8_t {
  kOther,       // before the first step, after the last one, between loops
  kData,        // inside a data loader's next()
  kPrepare,     // from the end of the previous step or micro-batch, or the batch's arrival, to forward
  kForward,     // forward that leads to a backward pass
  kEvaluation,  // forward without a backward pass
  kBackward,
  kUpdate,     // after the last backward pass: clipping, unscaling
  kOptimizer,  // inside optimizer.step()
};
[[nodiscard]] Phase PhaseOf(Part part);

struct Span {
  model::EventIndex begin = 0;  // ends where the next one begins
  uint32_t step = 0;            // 0 = no step
  Part part = Part::kOther;
  model::EventIndex backward = model::kNever;  // begin of the backward pass that follows
};

struct Step {
  uint32_t number = 0;  // from 1
  model::EventIndex begin = 0;
  model::EventIndex end = 0;  // the first event after it
  bool complete = true;       // false: the trace ends inside it
  bool deep = false;          // with ops, modules and shapes
};

class Training {
 public:
  Training() = default;

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] StepEnds::Source step_source() const { return step_source_; }

  // The span that contains event `at`; kNever: the last one. O(log spans).
  [[nodiscard]] const Span& SpanAt(model::EventIndex at) const;
  // nullptr outside of all steps.
  [[nodiscard]] const Step* StepAt(model::EventIndex at) const;
  // Step `number`, or nullptr.
  [[nodiscard]] const Step* StepNumber(uint32_t number) const;
  // True if `thread` loaded data concurrently with training at `at` (a prefetcher). The span then does not
  // describe the thread's allocations.
  [[nodiscard]] bool LoadsDataBeside(model::ThreadIndex thread, model::EventIndex at) const;
  // The part of SpanAt, or kData if LoadsDataBeside().
  [[nodiscard]] Part PartOf(model::ThreadIndex thread, model::EventIndex at) const;

 private:
  friend class TrainingBuilder;

  std::vector<Step> steps_;
  std::vector<Span> spans_ = {{}};
  std::vector<ThreadInterval> other_data_;
  StepEnds::Source step_source_ = StepEnds::Source::kNone;
};

[[nodiscard]] Training FindTraining(const model::Run& run, model::ProcessIndex process);

}  // namespace vramscope::timeline
