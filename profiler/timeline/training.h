// SPDX-License-Identifier: Apache-2.0
// Finds the steps and phases of a training process. The program needs no annotations.
//
//   ┌ setup ┬──────────────── step 1 ─────────────────┬───────────── step 2 ─────────────┬ after
//   │       │ data  prepare  forward  backward  update │ data ... (evaluation) ... update │
//
// Spans divide the whole trace without gaps. Each span has a part, and each part belongs to a phase. Users
// see phases. The finer parts are used to derive categories.
//
// The rules (training.cc, forward_begin.h) also handle gradient accumulation, several optimizers, LBFGS
// (forward and backward inside step()), evaluation, and an interrupted last step.
#pragma once

#include <span>
#include <vector>

#include "profiler/model/run.h"
#include "profiler/timeline/step_ends.h"
#include "profiler/timeline/windows.h"

namespace vramscope::timeline {

enum class Phase : uint8_t { kOther, kData, kForward, kBackward, kOptimizer };
inline constexpr size_t kPhaseCount = 5;
// Returns "other", "data", "forward", "backward" or "optimizer".
[[nodiscard]] const char* PhaseName(Phase phase);

enum class Part : uint8_t {
  kOther,       // before the first step, after the last one, between loops
  kData,        // inside a data loader's next()
  kPrepare,     // between the previous step, the previous micro-batch or the batch's arrival, and forward
  kForward,     // forward, followed by a backward pass
  kEvaluation,  // forward, not followed by a backward pass
  kBackward,
  kUpdate,     // after the last backward pass: clipping, unscaling
  kOptimizer,  // inside optimizer.step()
};
[[nodiscard]] Phase PhaseOf(Part part);

struct Span {
  model::EventIndex begin = 0;  // a span ends where the next span begins
  uint32_t step = 0;            // 0 = no step
  Part part = Part::kOther;
  model::EventIndex backward = model::kNever;  // begin of the next backward pass
};

struct Step {
  uint32_t number = 0;  // from 1
  model::EventIndex begin = 0;
  model::EventIndex end = 0;  // the first event after the step
  bool complete = true;       // false if the trace ends inside the step
  bool deep = false;          // true if operators, modules and shapes were recorded
};

class Training {
 public:
  Training() = default;

  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] StepEnds::Source step_source() const { return step_source_; }

  // Returns the span that contains event `at`; for kNever, the last span. O(log spans).
  [[nodiscard]] const Span& SpanAt(model::EventIndex at) const;
  // Returns the step that contains event `at`; nullptr outside all steps.
  [[nodiscard]] const Step* StepAt(model::EventIndex at) const;
  // Step `number`, or nullptr.
  [[nodiscard]] const Step* StepNumber(uint32_t number) const;
  // True if `thread` was loading data while another thread trained (a prefetcher). The span does not describe
  // the allocations of such a thread.
  [[nodiscard]] bool LoadsDataBeside(model::ThreadIndex thread, model::EventIndex at) const;
  // Returns the part of SpanAt(at), or kData if LoadsDataBeside().
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
