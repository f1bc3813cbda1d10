// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/births.h"

namespace vramscope::classify {

bool Births::WasHeld(const model::Block& block) {
  if (block.stack == 0 || run_.source == nullptr) return false;
  const auto [known, fresh] = held_stacks_.try_emplace(block.stack, false);
  if (fresh) {
    const auto frames = run_.source->Stack(block.stack);
    known->second = frames.size() == 1 && run_.Text(frames.front()) == trace::kHeldFrame;
  }
  return known->second;
}

Birth Births::Of(const model::Block& block) {
  const model::ProcessIndex process = run_.ProcessOf(block);
  const timeline::Training& training = training_[process];
  const auto& spans = training.spans();
  size_t& at = positions_[process];
  while (at + 1 < spans.size() && spans[at + 1].begin <= block.alloc_event) ++at;
  const timeline::Span& span = spans[at];

  Birth birth;
  birth.held = WasHeld(block);
  if (birth.held) return birth;
  birth.part = training.LoadsDataBeside(block.thread, block.alloc_event) ? timeline::Part::kData : span.part;
  birth.step = span.step;
  birth.backward = span.backward;
  const auto& steps = training.steps();
  birth.before_first_step =
      !steps.empty() && block.alloc_event < steps.front().begin && birth.part != timeline::Part::kEvaluation;
  if (const timeline::Step* next = training.StepNumber(span.step + 1);
      span.step != 0 && next != nullptr && next->complete) {
    birth.next_step_end = next->end;
  }
  return birth;
}

}  // namespace vramscope::classify
