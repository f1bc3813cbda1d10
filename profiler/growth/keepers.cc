// SPDX-License-Identifier: Apache-2.0
#include "profiler/growth/keepers.h"

#include <algorithm>
#include <iterator>

#include "profiler/growth/growth.h"

namespace vramscope::growth {
namespace {

using classify::Category;
using model::BlockId;
using trace::LabelSource;
using trace::Role;

}  // namespace

Keepers::Keepers(const classify::Analysis& analysis, model::ProcessIndex process, model::EventIndex until)
    : analysis_(analysis), run_(analysis.run()), until_(until) {
  std::set<uint64_t> leaves;
  std::set<uint64_t> with_gradient;
  for (const model::Label& label : run_.labels) {
    const model::Block& block = run_.blocks[label.block];
    const bool concerns = label.source == LabelSource::kAccumulateGrad && label.tensor != 0 &&
                          run_.ProcessOf(block) == process && block.AliveAfter(until);
    if (!concerns) continue;
    if (label.role == Role::kGradient) with_gradient.insert(label.tensor);
    if (label.role == Role::kParameter && !IsForLife(label.block)) leaves.insert(label.tensor);
  }
  std::set_intersection(leaves.begin(), leaves.end(), with_gradient.begin(), with_gradient.end(),
                        std::inserter(cycles_, cycles_.end()));
  if (!cycles_.empty() && !MakesGraphsInBackward(process)) cycles_.clear();
}

Keeper Keepers::Of(BlockId id) const {
  const model::BlockFacts* const facts = run_.FactsOf(run_.blocks[id]);
  if (facts == nullptr || IsForLife(id)) return Keeper::kProgram;
  if (IsInCycle(*facts)) return Keeper::kCycle;
  const bool saved = facts->first_saved != model::kNever && facts->released > until_;
  return saved ? Keeper::kGraph : Keeper::kProgram;
}

// True for a block that stays anyway. If autograd has saved a parameter, this does not indicate a kept graph.
bool Keepers::IsForLife(BlockId id) const {
  const Category category = analysis_.categories().At(id, until_).category;
  return category == Category::kParameter || category == Category::kBuffer ||
         category == Category::kOptimizerState || category == Category::kGradient;
}

bool Keepers::IsInCycle(const model::BlockFacts& facts) const {
  for (uint32_t i = facts.first_label; i != model::kNone; i = run_.labels[i].next) {
    if (run_.labels[i].source == LabelSource::kAccumulateGrad && cycles_.contains(run_.labels[i].tensor))
      return true;
  }
  return false;
}

// True if the process ran backward(create_graph=True): then autograd saves tensors in backward for a second
// backward. False if checkpoints ran, because their recomputation also saves tensors in backward.
bool Keepers::MakesGraphsInBackward(model::ProcessIndex process) const {
  const auto& ranges = run_.processes[process].ranges;
  const bool checkpoints = std::any_of(ranges.begin(), ranges.end(), [&](uint32_t index) {
    return run_.ranges[index].kind == trace::RangeKind::kCheckpoint;
  });
  if (checkpoints) return false;
  const timeline::Training& training = analysis_.training()[process];
  for (const model::BlockFacts& facts : run_.facts) {
    if (facts.first_saved == model::kNever || run_.ProcessOf(run_.blocks[facts.block]) != process) continue;
    if (training.SpanAt(facts.first_saved).part == timeline::Part::kBackward) return true;
  }
  return false;
}

}  // namespace vramscope::growth
