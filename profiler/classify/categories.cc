// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/categories.h"

#include <algorithm>

#include "profiler/classify/block_rules.h"

namespace vramscope::classify {
namespace {

using model::BlockId;
using model::EventIndex;

// The circumstances of births, asked in order of allocation: one position per process, moved forward.
class Births {
 public:
  Births(const model::Run& run, std::span<const timeline::Training> training)
      : run_(run), training_(training), positions_(training.size(), 0) {}

  Birth Of(const model::Block& block) {
    const model::ProcessIndex process = run_.ProcessOf(block);
    const timeline::Training& training = training_[process];
    const auto& spans = training.spans();
    size_t& at = positions_[process];
    while (at + 1 < spans.size() && spans[at + 1].begin <= block.alloc_event) ++at;
    const timeline::Span& span = spans[at];

    Birth birth;
    birth.part =
        training.LoadsDataBeside(block.thread, block.alloc_event) ? timeline::Part::kData : span.part;
    birth.step = span.step;
    birth.backward = span.backward;
    const auto& steps = training.steps();
    birth.before_first_step = !steps.empty() && block.alloc_event < steps.front().begin &&
                              birth.part != timeline::Part::kEvaluation;
    if (const timeline::Step* next = training.StepNumber(span.step + 1);
        span.step != 0 && next != nullptr && next->complete) {
      birth.next_step_end = next->end;
    }
    return birth;
  }

 private:
  const model::Run& run_;
  std::span<const timeline::Training> training_;
  std::vector<size_t> positions_;
};

}  // namespace

const Stretch& Life::At(EventIndex at) const {
  size_t i = size_ - 1;
  while (i > 0 && stretches_[i].begin > at) --i;
  return stretches_[i];
}

void Life::Add(const Stretch& stretch) {
  while (size_ > 0 && stretches_[size_ - 1].begin >= stretch.begin) --size_;
  stretches_[size_++] = stretch;
}

Categories::Categories(const model::Run& run, std::span<const timeline::Training> training) : run_(run) {
  Births births(run, training);
  first_.reserve(run.blocks.size());
  for (BlockId id = 0; id < run.blocks.size(); ++id) {
    const Life life = Classify(run, run.blocks[id], births.Of(run.blocks[id]));
    first_.push_back({life[0].category, life[0].proof, life.size() > 1});
    for (size_t i = 1; i < life.size(); ++i) later_.push_back({id, life[i]});
  }
}

Life Categories::Of(BlockId block) const {
  Life life;
  const First& first = first_[block];
  life.Add({run_.blocks[block].alloc_event, first.category, first.proof});
  if (!first.goes_on) return life;
  auto later = std::lower_bound(later_.begin(), later_.end(), block,
                                [](const Later& entry, BlockId id) { return entry.block < id; });
  for (; later != later_.end() && later->block == block; ++later) life.Add(later->stretch);
  return life;
}

}  // namespace vramscope::classify
