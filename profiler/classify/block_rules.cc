// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/block_rules.h"

#include <algorithm>
#include <optional>

namespace vramscope::classify {
namespace {

using model::Block;
using model::BlockFacts;
using model::EventIndex;
using model::kNever;
using timeline::Part;
using trace::LabelSource;
using trace::Role;

constexpr size_t kRoleCount = static_cast<size_t>(Role::kNamed) + 1;

Proof ProofOf(LabelSource source) {
  switch (source) {
    case LabelSource::kAccumulateGrad:
      return Proof::kAccumulateGrad;
    case LabelSource::kModuleRegistry:
      return Proof::kModuleRegistry;
    case LabelSource::kOptimizer:
      return Proof::kOptimizerLabel;
    case LabelSource::kDataLoader:
      return Proof::kDataLoaderLabel;
    case LabelSource::kRegisterBuffer:
      return Proof::kRegisterBuffer;
    case LabelSource::kWorkspace:
      return Proof::kWorkspaceLabel;
    case LabelSource::kCollective:
      return Proof::kCollective;
    case LabelSource::kDataParallel:
      return Proof::kDataParallel;
    case LabelSource::kNvtx:  // this and the next two give names, not roles
    case LabelSource::kUserMetadata:
    case LabelSource::kAnnotation:
    case LabelSource::kVariable:  // names the variable that holds the block
      break;
  }
  return Proof::kModuleRegistry;
}

// The first label of each role, without the labels that Leaves disproves. For communication, a label from the
// code that allocated the block has priority over an observed collective.
struct Roles {
  std::array<const model::Label*, kRoleCount> first = {};

  Roles(const model::Run& run, const BlockFacts* facts, const Leaves& leaves) {
    if (facts == nullptr) return;
    for (uint32_t i = facts->first_label; i != model::kNone; i = run.labels[i].next) {
      if (leaves.Disprove(i)) continue;
      const model::Label*& label = first[static_cast<size_t>(run.labels[i].role)];
      if (label == nullptr ||
          (run.labels[i].source == LabelSource::kDataParallel && label->source == LabelSource::kCollective)) {
        label = &run.labels[i];
      }
    }
  }
  [[nodiscard]] const model::Label* operator[](Role role) const { return first[static_cast<size_t>(role)]; }
};

// A stretch for the block's whole life, from the first of `choices` that has a label.
template <size_t kChoices>
std::optional<Stretch> ByLabel(const Roles& roles, EventIndex birth,
                               const std::array<std::pair<Role, Category>, kChoices>& choices) {
  for (const auto& [role, category] : choices) {
    if (const model::Label* label = roles[role]; label != nullptr)
      return Stretch{birth, category, ProofOf(label->source)};
  }
  return std::nullopt;
}

constexpr std::array<std::pair<Role, Category>, 3> kStrongRoles = {
    {{Role::kParameter, Category::kParameter},
     {Role::kOptimizerState, Category::kOptimizerState},
     {Role::kBuffer,
      Category::kBuffer}}};  // last, because torch.compile keeps the state that it compiles as buffers too
constexpr std::array<std::pair<Role, Category>, 2> kWeakRoles = {
    {{Role::kWorkspace, Category::kWorkspace}, {Role::kInput, Category::kInput}}};

// The proof, without a label, that a block is optimizer state: it was allocated in the optimizer's step and
// is alive one full step later. If the run ends earlier, a block from the optimizer's first step that
// outlives this step counts as state.
std::optional<Proof> ProofOfOptimizerState(const Block& block, const Birth& birth) {
  if (birth.part != Part::kOptimizer) return std::nullopt;
  if (birth.next_step_end != kNever)
    return block.free_event >= birth.next_step_end ? std::optional(Proof::kOutlivedNextStep) : std::nullopt;
  const bool kept = birth.optimizer_end != kNever && block.free_event >= birth.optimizer_end;
  return kept ? std::optional(Proof::kOutlivedOptimizer) : std::nullopt;
}

std::optional<Proof> ProofOfInput(const Block& block, const Birth& birth, bool saved) {
  if (birth.part == Part::kData) return Proof::kBornInDataLoader;
  // Before the first step a program also allocates blocks that are not batches. So a block from that time is
  // an input only if autograd saved it.
  if (birth.before_first_step) return saved ? std::optional(Proof::kSetUpAndSaved) : std::nullopt;
  if (birth.part != Part::kPrepare) return std::nullopt;
  if (!saved && birth.kept) return std::nullopt;
  if (saved) return Proof::kPreparedAndSaved;
  const bool alive_in_backward = birth.backward != kNever && block.free_event > birth.backward;
  return alive_in_backward ? std::optional(Proof::kPreparedAndAliveInBackward) : std::nullopt;
}

// True for a block that was allocated in forward and is alive when backward begins, in a process whose trace
// does not record what autograd saves.
bool IsAliveInBackward(const model::Run& run, const Block& block, const Birth& birth) {
  const bool saves_are_seen = !run.processes[run.ProcessOf(block)].first_saves.empty();
  return !saves_are_seen && birth.part == Part::kForward && birth.backward != kNever &&
         block.free_event > birth.backward;
}

Stretch Temporary(EventIndex begin, const Birth& birth) {
  switch (birth.part) {
    case Part::kForward:
      return {begin, Category::kTemporaryForward, Proof::kBornInForward};
    case Part::kEvaluation:
      return {begin, Category::kTemporaryForward, Proof::kBornInEvaluation};
    case Part::kBackward:
      return {begin, Category::kTemporaryBackward, Proof::kBornInBackward};
    case Part::kUpdate:
      return {begin, Category::kTemporaryOptimizer, Proof::kBornInUpdate};
    case Part::kOptimizer:
      return {begin, Category::kTemporaryOptimizer, Proof::kBornInOptimizer};
    case Part::kData:
    case Part::kPrepare:
    case Part::kOther:
      break;
  }
  if (birth.held) return {begin, Category::kUnattributed, Proof::kHeldBeforeAttach};
  if (birth.weight_copy) return {begin, Category::kUnattributed, Proof::kWeightCopy};
  const Proof proof = birth.before_first_step ? Proof::kBornBeforeFirstStep : Proof::kBornOutsidePhases;
  return {begin, Category::kUnattributed, proof};
}

// The category of blocks that were allocated for communication, whatever else they hold in between:
//
//   bucket of DistributedDataParallel                         communication
//   bucket with gradient_as_bucket_view, reduced shard        gradient: communicated first, then kept as one
//   gathered copy of a parameter (FSDP, ZeRO-3)               communication
//
// Other blocks that a collective reads or writes keep their category: a gradient that the program reduces, a
// weight that it broadcasts, an activation of tensor parallelism. Only a temporary becomes communication
// (AddUseBeforeGradient).
std::optional<Stretch> MadeToCommunicate(const Block& block, const Birth& birth, const Roles& roles) {
  const model::Label* communicated = roles[Role::kCommunication];
  if (communicated == nullptr) return std::nullopt;
  const bool made_for_it = communicated->source == LabelSource::kDataParallel;
  const model::Label* gradient = roles[Role::kGradient];
  const model::Label* parameter = roles[Role::kParameter];
  if (gradient != nullptr && parameter == nullptr && (made_for_it || communicated->event < gradient->event))
    return Stretch{block.alloc_event, Category::kGradient, ProofOf(gradient->source)};
  const bool is_gathered = parameter != nullptr && IsGoneSoon(block, birth);
  if (!made_for_it && !is_gathered) return std::nullopt;
  return Stretch{block.alloc_event, Category::kCommunication, ProofOf(communicated->source)};
}

// Adds the categories that the block has before it becomes a gradient.
void AddUseBeforeGradient(Life& life, const model::Run& run, const Block& block, const Birth& birth,
                          const BlockFacts* facts, const Roles& roles) {
  const EventIndex born = block.alloc_event;
  if (const auto labeled = ByLabel(roles, born, kWeakRoles)) return life.Add(*labeled);
  const bool saved = facts != nullptr && facts->first_saved != kNever;
  const model::Label* communicated = roles[Role::kCommunication];
  if (communicated != nullptr && !saved && roles[Role::kGradient] == nullptr)
    return life.Add({born, Category::kCommunication, ProofOf(communicated->source)});
  if (const auto proof = ProofOfInput(block, birth, saved)) {
    life.Add({born, Category::kInput, *proof});
    // If autograd saves the block again in later steps, the program uses one batch for all steps.
    const bool used_later = saved && facts->released >= birth.next_step_end;
    if (birth.kept && birth.next_step_end != kNever && !used_later)
      life.Add({birth.next_step_end, Category::kUnattributed, Proof::kBornOutsidePhases});
    return;
  }
  if (!saved) {
    const bool kept = IsAliveInBackward(run, block, birth);
    return life.Add(kept ? Stretch{born, Category::kActivation, Proof::kPreparedAndAliveInBackward}
                         : Temporary(born, birth));
  }
  life.Add({born, Category::kActivation, Proof::kSaved});
  if (facts->released != kNever) life.Add(Temporary(facts->released, birth));
}

}  // namespace

Life Classify(const model::Run& run, const Block& block, const Birth& birth, const Leaves& leaves) {
  Life life;
  const BlockFacts* facts = run.FactsOf(block);
  const Roles roles(run, facts, leaves);
  if (const auto communication = MadeToCommunicate(block, birth, roles)) {
    life.Add(*communication);
    return life;
  }
  if (const auto labeled = ByLabel(roles, block.alloc_event, kStrongRoles)) {
    life.Add(*labeled);
    return life;
  }
  const model::Label* gradient = roles[Role::kGradient];
  if (gradient != nullptr && gradient->source == LabelSource::kModuleRegistry) {
    // A variable in which the program itself accumulates a gradient.
    life.Add({block.alloc_event, Category::kGradient, ProofOf(gradient->source)});
    return life;
  }
  if (const auto proof = ProofOfOptimizerState(block, birth);
      gradient == nullptr && roles[Role::kCommunication] == nullptr && proof.has_value()) {
    life.Add({block.alloc_event, Category::kOptimizerState, *proof});
    return life;
  }
  AddUseBeforeGradient(life, run, block, birth, facts, roles);
  if (gradient != nullptr) life.Add({gradient->event, Category::kGradient, ProofOf(gradient->source)});
  return life;
}

}  // namespace vramscope::classify
