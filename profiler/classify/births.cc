// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/births.h"

namespace vramscope::classify {

bool IsGoneSoon(const model::Block& block, const Birth& birth) {
  if (birth.step == 0 || birth.before_first_step) return false;
  return birth.next_step_end == model::kNever || block.free_event < birth.next_step_end;
}

bool Births::WasHeld(const model::Block& block) {
  if (block.stack == 0 || run_.source == nullptr) return false;
  if (block.stack == last_stack_) return last_held_;
  const auto [known, fresh] = held_stacks_.try_emplace(block.stack, false);
  if (fresh) {
    const auto frames = run_.source->Stack(block.stack);
    known->second = frames.size() == 1 && run_.Text(frames.front()) == trace::kHeldFrame;
  }
  last_stack_ = block.stack;
  last_held_ = known->second;
  return last_held_;
}

Births::Births(const model::Run& run, std::span<const timeline::Training> training)
    : run_(run), training_(training), places_(training.size()) {
  for (const model::Label& label : run.labels)
    state_is_labeled_ |= label.source == trace::LabelSource::kOptimizer;
}

Birth Births::BirthIn(size_t number, const timeline::Training& training) const {
  const auto& spans = training.spans();
  const timeline::Span& span = spans[number];
  Birth birth;
  birth.part = span.part;
  birth.step = span.step;
  birth.backward = span.backward;
  if (const timeline::Step* next = training.StepNumber(span.step + 1);
      span.step != 0 && next != nullptr && next->complete) {
    birth.next_step_end = next->end;
  }
  const bool first = !training.steps().empty() && span.step == training.steps().front().number;
  if (span.part == timeline::Part::kOptimizer && first && !state_is_labeled_ && number + 1 < spans.size())
    birth.optimizer_end = spans[number + 1].begin;
  return birth;
}

Birth Births::Of(const model::Block& block) {
  const model::ProcessIndex process = run_.ProcessOf(block);
  const timeline::Training& training = training_[process];
  const auto& spans = training.spans();
  Place& place = places_[process];
  if (WasHeld(block)) return {.held = true};
  while (place.span + 1 < spans.size() && spans[place.span + 1].begin <= block.alloc_event) {
    ++place.span;
    place.known = false;
  }
  if (!place.known) place.birth = BirthIn(place.span, training);
  place.known = true;

  Birth birth = place.birth;
  if (training.LoadsDataBeside(block.thread, block.alloc_event)) birth.part = timeline::Part::kData;
  const auto& steps = training.steps();
  birth.before_first_step =
      !steps.empty() && block.alloc_event < steps.front().begin && birth.part != timeline::Part::kEvaluation;
  return birth;
}

}  // namespace vramscope::classify
