// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/precision.h"

#include <algorithm>
#include <span>

#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/precision/asked_types.h"
#include "profiler/whatif/precision/autocast_rules.h"
#include "profiler/whatif/precision/batch_norms.h"
#include "profiler/whatif/precision/conversions.h"
#include "profiler/whatif/precision/copies.h"
#include "profiler/whatif/precision/cumulative.h"
#include "profiler/whatif/precision/edges.h"
#include "profiler/whatif/precision/fourier.h"
#include "profiler/whatif/precision/given_back.h"
#include "profiler/whatif/precision/gradients.h"
#include "profiler/whatif/precision/kernels.h"
#include "profiler/whatif/precision/leaves.h"
#include "profiler/whatif/precision/linears.h"
#include "profiler/whatif/precision/moments.h"
#include "profiler/whatif/precision/saves.h"
#include "profiler/whatif/precision/separate_weights.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/precision/widened_inside.h"
#include "profiler/whatif/source/conversion_facts.h"
#include "profiler/whatif/step/forward_parts.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

enum class Way : uint8_t { kAutocast, kAllLow };

class Retyped {
 public:
  // `found`: about the program's own conversions.
  Retyped(const Step& step, Way way, uint8_t low, const FoundConversions& found = {})
      : step_(step),
        way_(way),
        low_(low),
        leaf_(way == Way::kAllLow ? low : kFloatType),
        versions_(step, leaf_),
        conversions_(step, low, way == Way::kAllLow, found, versions_),
        consumers_(step),
        holders_(step),
        moments_(step, rules_),
        copies_(step, low, expected_, versions_),
        edges_(step, consumers_, copies_, versions_),
        leaves_(step, low, leaf_, moments_, copies_, versions_),
        saves_(step, versions_),
        cumulative_(step, low, versions_, saves_),
        heads_first_(step, low, versions_),
        forward_(ForwardParts(step)),
        nodes_of_(NodesByOp(step)) {
    rules_.resize(step.ops.size(), CastRule::kAsGiven);
    covered_.resize(step.ops.size(), false);
    expected_.resize(step.nodes.size(), leaf_);
    read_type_.resize(step.nodes.size(), kFloatType);
  }

  [[nodiscard]] const FoundConversions& found() const { return conversions_.found(); }

  Step Run() {
    for (const Moment& moment : MomentsOf(step_)) Play(moment);
    const std::vector<bool> low = versions_.LowBlocks();
    Step changed = std::move(versions_).Finish(saves_.all());
    moments_.PutOffSums(changed);
    ChangeKernels(step_, low, changed);
    if (low_ == kBfloat16Type || way_ == Way::kAllLow) NormalizeByOwnKernels(step_, low, changed);
    changed.refuses = conversions_.refuses();
    if (way_ == Way::kAllLow) {
      for (Passing& one : changed.passing) one.bytes /= BytesOf(kFloatType) / BytesOf(low_);
      if (low_ == kBfloat16Type) SeparateWeights(step_, changed);
    }
    if (way_ == Way::kAutocast) changed.autocast = forward_, ComputeAsAddmm(step_, changed);
    return changed;
  }

 private:
  void Play(const Moment& moment) {
    switch (moment.what) {
      case What::kNodeBegin:
        return saves_.BeginNode(moment.index);
      case What::kOpBegin:
        if (step_.ops[moment.index].node != kNone) return BeginBackward(moment.index);
        return BeginForward(moment.index), BeginCumulative(moment.index);
      case What::kSaved:
        return Save(moment.index);
      case What::kOpEnd:
        return EndOp(moment.index);
      case What::kNodeEnd:
        return saves_.EndNode();
    }
  }

  [[nodiscard]] std::span<const Operand> Inputs(const Op& op) const { return InputsOf(step_, op); }
  [[nodiscard]] std::span<const Operand> Outputs(const Op& op) const { return OutputsOf(step_, op); }
  // Forward: the outermost operator of the list converts, what is inside it works on what it is given.
  void BeginForward(uint32_t index) {
    const Op& op = step_.ops[index];
    covered_[index] = op.parent != kNone && (covered_[op.parent] || rules_[op.parent] != CastRule::kAsGiven);
    conversions_.Begin(index);
    if (heads_first_.Begin(op)) rules_[index] = CastRule::kSingle, moments_.Converts(index);
    for (const Operand* const wide : WidenedInside(step_, op, versions_)) CastInside(index, *wide, op.begin);
    if (way_ == Way::kAllLow) return BeginInLow(index);
    if (covered_[index] || !Within(forward_, op.begin) || Within(step_.autocast_off, op.begin)) return;
    const bool back = GivesBack(step_, versions_, index);
    const CastRule rule =
        back ? CastRule::kLow : AutocastRuleOf(step_.NameOf(op), step_.torch_version, low_ == kHalfType);
    if (op.parent != kNone && IsLeftAlone(step_.NameOf(op), step_.NameOf(step_.ops[op.parent]))) return;
    rules_[index] = rule;
    if (rule == CastRule::kLow || rule == CastRule::kSingle || rule == CastRule::kPromote)
      CastInputs(index, rule);
  }

  // flatten_parameters() leaves bfloat16 alone (torch/backends/cudnn: CUDNN_TENSOR_DTYPES), so that cuDNN
  // gets a copy of all weights together in each call. What the program asks a type of, softmax(x,
  // dtype=torch.float32), is computed as autocast would have it.
  void BeginInLow(uint32_t index) {
    const Op& op = step_.ops[index];
    if (step_.NameOf(op) == "aten::_cudnn_rnn" && low_ == kBfloat16Type) CastWeights(index, low_);
    if (op.parent != kNone || step_.Text(op.dtype) != kFloatName) return;
    rules_[index] = AutocastRuleOf(step_.NameOf(op), step_.torch_version, low_ == kHalfType);
    if (rules_[index] == CastRule::kSingle)
      CastInputs(index, CastRule::kSingle);
    else if (rules_[index] != CastRule::kIntoSingle)
      rules_[index] = CastRule::kAsGiven;
  }

  void CastInputs(uint32_t index, CastRule rule) {
    const Op& op = step_.ops[index];
    uint8_t wanted = rule == CastRule::kLow ? low_ : kFloatType;
    if (rule == CastRule::kPromote) wanted = versions_.PromotedOf(Inputs(op));
    Position at = op.begin;
    // cuDNN's recurrent networks work in float16, whatever is asked for, on a new copy of all weights
    // together (aten/src/ATen/cudnn/AutocastRNN.cpp).
    if (step_.NameOf(op) == "aten::_cudnn_rnn") wanted = kHalfType, at = CastWeights(index, wanted);
    for (const size_t i : CastOrder(Inputs(op))) {
      const Operand& operand = Inputs(op)[i];
      if (!IsFloat(operand) || versions_.TypeOf(operand.block) == wanted || !versions_.Known(operand.block))
        continue;
      at += kStride;
      if (rule == CastRule::kLow) copies_.NoteBack(index, operand.block);
      const uint32_t before = versions_.Current(operand.block);
      if (wanted == low_ && versions_.IsWeight(operand))
        versions_.UseCached(operand.block, low_, at, index, operand);
      else
        versions_.Cast(operand.block, wanted, at, index, operand), moments_.Converts(index);
      heads_first_.Copied(operand, before);
      uncast_.push_back({index, operand.block, before, versions_.Current(operand.block)});
    }
  }

  // By the operator: no conversion that autograd, which keeps what it was given, knows of.
  void CastInside(uint32_t index, const Operand& operand, Position behind) {
    const uint32_t before = versions_.Current(operand.block);
    versions_.Cast(operand.block, kFloatType, behind + kStride, index, operand);
    uncast_.push_back({index, operand.block, before, versions_.Current(operand.block), true});
  }

  void BeginCumulative(uint32_t index) {
    const Operand* const copied = rules_[index] == CastRule::kIntoSingle ? cumulative_.Begin(index) : nullptr;
    if (copied != nullptr) CastInside(index, *copied, step_.blocks[Outputs(step_.ops[index])[0].block].begin);
  }

  void Save(uint32_t saved) {
    const uint32_t block = step_.saved[saved].block, current = heads_first_.Saved(block);
    for (const Uncast& cast : uncast_)
      if (cast.inside && cast.block == block) versions_.SetCurrent(block, cast.version);
    saves_.Save(saved);
    versions_.SetCurrent(block, current);
  }

  Position CastWeights(uint32_t index, uint8_t type) {
    const Op& op = step_.ops[index];
    Position at = op.begin;
    for (const Operand& operand : Inputs(op)) {
      if (!IsFloat(operand) || !IsOfNetwork(step_, operand) || versions_.IsCopy(operand.block)) continue;
      const uint32_t before = versions_.Current(operand.block);
      versions_.CastWhole(operand.block, type, at += kStride, index);
      uncast_.push_back({index, operand.block, before, versions_.Current(operand.block)});
    }
    return at;
  }

  void BeginBackward(uint32_t index) {
    const Op& op = step_.ops[index];
    covered_[index] = true;
    if (op.parent != kNone) return;
    for (const Operand& operand : Inputs(op)) versions_.See(operand);
    if (op.name == step_.nodes[op.node].name) {
      for (const Operand& gradient : Inputs(op)) {
        if (!IsFloat(gradient)) continue;
        TakeGradient(gradient, op, op.node);
        cumulative_.TakeGradient(gradient, op);
      }
      return;
    }
    const std::string_view name = step_.NameOf(op);
    if (name == "aten::add_" || name == "aten::add") Accumulate(op, name == "aten::add");
  }

  // What a node is given has the type of what it computed in forward.
  void TakeGradient(const Operand& gradient, const Op& op, uint32_t node) {
    const uint32_t block = gradient.block;
    const uint8_t wanted = expected_[node];
    copies_.Join(node);
    if (!versions_.Known(block) || step_.blocks[block].begin == kBefore) return;
    if (step_.nodes[node].op == kNone) return leaves_.Take(gradient, op);
    const Position before = step_.nodes[node].begin, latest = before - kBeforeNode;
    if (edges_.Convert(gradient, node, wanted)) return;
    const uint32_t version = versions_.Current(block);
    if (wanted == kFloatType && conversions_.TookBack(node) &&
        edges_.ThereAndBack(gradient, node, low_, wanted))
      return saves_.HideUntilEnd(block, version);
    if (const auto back = copies_.ComesBack(block, node); back.at != kBefore) {
      Position there = back.from == kFloatType ? moments_.OfArgument(block) : kForever;  // autocast's node
      if (there >= kForever) there = moments_.ReadyBefore(gradient, HandedOn(gradient, before), before);
      return versions_.ThereAndBack(block, back.from, std::max(there, back.there), back.at, gradient);
    }
    if (versions_.TypeOf(block) == wanted)
      return conversions_.PassBack(gradient, node, std::min(moments_.BehindCall(block), latest));
    const bool by_program = versions_.IsCopy(block) || copies_.IsOfCopy(block, node);
    const Position behind = by_program ? kForever : moments_.OfArgument(block);
    if (behind < kForever) return versions_.CastByNode(block, wanted, std::min(behind, latest), gradient);
    const uint32_t handed_on = HandedOn(gradient, before);
    Position at = copies_.Converts(block, node, latest);
    if (versions_.IsUnseen(block))
      at = copies_.ConvertsBack(
          node, versions_.AfterCopy(block, moments_.HandedOn(gradient, handed_on, before), latest), latest);
    else if (!copies_.IsOfCopy(block, node))
      at = moments_.ReadyBefore(gradient, handed_on, before);
    else if (handed_on == kNone)  // else an addition's other edge has it as it is
      return versions_.CastByNode(block, wanted, at, gradient);
    versions_.Cast(block, wanted, at, kNone, gradient);
    edges_.MadeFor(block, node);
  }

  // The engine adds two gradients of one tensor: both have its type by then.
  void Accumulate(const Op& op, bool out_of_place) {
    if (op.output_count == 0 || !IsFloat(Outputs(op)[0])) return;
    const uint32_t result = Outputs(op)[0].block, node = consumers_.Next(result, op.end);
    if (node != kNone && way_ == Way::kAllLow) edges_.ConvertWide(op, node, low_);
    if (node == kNone || copies_.Waits(op, node)) return;
    const bool as_it_is = leaves_.AddsBeforeCast(op, node) || copies_.AddsUp(op, node);
    const uint8_t wanted = !as_it_is && copies_.AddsUpInLow(op, node) ? low_ : expected_[node];
    for (const Operand& operand : Inputs(op))
      if (!as_it_is && IsFloat(operand)) CastAdded(operand, op.begin, node, wanted);
    if (!out_of_place) return versions_.Written(result, op.end);
    // What nobody shares is added to where it is: a copy, or what all others have copies of.
    if (op.input_count == 0 || !IsFloat(Inputs(op)[0])) return;
    const uint32_t to = Inputs(op)[0].block;
    if (!moments_.IsShared(Inputs(op)[0], versions_.MadeAt(versions_.Current(to)), op.begin) &&
        (versions_.IsCopy(to) ? consumers_.Next(to, op.end) == kNone
                              : consumers_.WantCopies(to, op.end, versions_.TypeOf(to), expected_)))
      versions_.Alias(result, to);
  }

  [[nodiscard]] uint32_t HandedOn(const Operand& gradient, Position at) const {
    return consumers_.HandedOn(gradient, moments_.ViewedBefore(gradient, at) != kBefore, at);
  }

  void CastAdded(const Operand& operand, Position add, uint32_t node, uint8_t wanted) {
    const uint32_t block = operand.block;
    if (!versions_.Known(block) || versions_.TypeOf(block) == wanted) return;
    Position at = moments_.OfAdded(operand, HandedOn(operand, add), add, node);
    // A copy that a node made is checked when the next one hands it on, or a view of it.
    const uint32_t last = consumers_.HandedOn(operand, false, add);
    if (versions_.IsCopy(block) && last != kNone) at = std::max(at, step_.ops[last].end + kStride);
    if (versions_.IsCopy(block)) at = std::max(at, moments_.ViewedBefore(operand, add));
    at = std::min(std::max(at, copies_.Complete(block, node)), add - kStride);
    const uint32_t from = versions_.Current(block);
    versions_.Cast(block, wanted, at, kNone, operand);
    versions_.GivenUp(from, at);
  }

  void EndOp(uint32_t index) {
    const Op& op = step_.ops[index];
    const Position until = op.node == kNone ? op.end : GivenUntil(step_, op, saves_.Of(op.node));
    if (op.node != kNone) edges_.NoteGiven(index);
    for (const Operand& operand : Inputs(op)) versions_.GivenToNode(operand, op.end, until);
    way_ == Way::kAllLow ? copies_.NoteReads(nodes_of_[index]) : TakeCopyForClone(step_, op, versions_);
    EndTransform(step_, op, low_, versions_);
    Decide(index);
    NoteNodes(index);  // of what it was given, which the program's names may stand for no more behind it
    heads_first_.Computed(op);
    conversions_.End(index);  // what was converted for this operator alone is behind
    // Behind a conversion, a name of the program's may stand for the copy.
    for (const Operand& operand : Inputs(op))
      if (operand.block != kNone) versions_.Held(operand.block, holders_.LastsUntil(operand));
    if (op.node == kNone) heads_first_.End(op);
    for (; !uncast_.empty() && uncast_.back().op == index; uncast_.pop_back()) {
      const Uncast& cast = uncast_.back();
      const uint32_t current = versions_.Current(cast.block);
      versions_.SetCurrent(cast.block, cast.version);
      versions_.Used(cast.block, op.end);
      if (current != cast.made) versions_.SetCurrent(cast.block, current);  // what was given had no name
    }
  }

  // The types of results that no operator inside has decided.
  void Decide(uint32_t index) {
    const Op& op = step_.ops[index];
    const std::string_view name = step_.NameOf(op);
    uint8_t promoted = PromotedBy(step_, versions_, index);
    // What the samples that a mask chose, none, have to do with: in the type of the gradient, which is empty.
    if (promoted == 0 && op.node != kNone && HaveEmpty(step_, Inputs(op))) promoted = expected_[op.node];
    if (way_ == Way::kAllLow && promoted == kFloatType && op.node == kNone && conversions_.WantsLow(index))
      promoted = low_;  // what was refused will be found
    for (const Operand& result : Outputs(op)) {
      if (!IsFloat(result) || versions_.Known(result.block) || step_.blocks[result.block].begin < op.begin)
        continue;
      if (promoted == 0 && op.parent != kNone)
        continue;  // memory without operands: the operator around it says
      uint8_t type = MadeType(index, result.block, promoted);
      if ((result.argument > 0 && KeepsStatistics(name, way_ == Way::kAllLow, op.node != kNone)) ||
          moments_.IsForced(index))
        type = kFloatType;
      else if (name == "aten::_to_copy" && op.dtype != 0 && !(promoted != 0 && OnlyMoves(step_, op)))
        type = conversions_.TypeOfCopy(index);
      else if (HasTypeOfRead(name))
        type = read_type_[op.node];
      else if (FollowsFirst(name))
        type = versions_.FirstOf(Inputs(op), type);
      versions_.Decide(result.block, type);
      if (type == kFloatType) conversions_.MarkWidened(index, result.block);
    }
  }

  // Of what is made from nothing or from integers: the loop hands over a batch in the type of the model, and
  // a program that names a type names that of a tensor beside it, unless its source says otherwise.
  [[nodiscard]] uint8_t MadeType(uint32_t index, uint32_t block, uint8_t promoted) const {
    const Op& op = step_.ops[index];
    if (const uint8_t named = conversions_.TypeNamed(index, promoted); named != 0) return named;
    if (step_.NameOf(op) == "aten::_to_copy") return leaf_;
    return op.dtype == 0 ? kFloatType : conversions_.TypeMade(index, block);
  }

  // Nodes that were made in this operator: what they will be given, and what they read.
  void NoteNodes(uint32_t index) {
    for (const uint32_t node : nodes_of_[index]) {
      const Op& op = step_.ops[index];
      if (const uint8_t type = versions_.TypeAround(op); type != 0 && HaveEmpty(step_, Outputs(op)))
        expected_[node] = type;
      for (const Operand& result : ResultsOf(step_, index)) {
        if (!IsFloat(result) || !versions_.Known(result.block)) continue;
        expected_[node] = versions_.TypeOf(result.block);
        break;
      }
      read_type_[node] = versions_.FirstOf(Inputs(op), kFloatType);
      if (way_ == Way::kAutocast) copies_.NoteRead(node);
    }
  }

  struct Uncast {
    uint32_t op, block, version, made;
    bool inside = false;  // the operator
  };

  const Step& step_;
  const Way way_;
  const uint8_t low_, leaf_;  // the latter of parameters and what belongs to them
  Versions versions_;
  Conversions conversions_;
  const Consumers consumers_;
  const Holders holders_;
  GradientMoments moments_;
  CopiesGradients copies_;
  AdditionEdges edges_;
  LeafGradients leaves_;
  SavedVersions saves_;
  Cumulative cumulative_;
  HeadsFirst heads_first_;
  const std::vector<Window> forward_;          // its parts
  std::vector<CastRule> rules_;                // by operator of forward
  std::vector<bool> covered_;                  // inside one that has a rule
  std::vector<uint8_t> expected_, read_type_;  // by node
  std::vector<Uncast> uncast_;
  const std::vector<std::vector<uint32_t>> nodes_of_;
};

}  // namespace

Step UnderAutocast(const Step& step, uint8_t low) { return Retyped(step, Way::kAutocast, low).Run(); }

Step AllInLow(const Step& step, uint8_t low) {
  constexpr int kMostTurns = 8;  // each finds all that shows behind what those before it found
  FoundConversions found;
  for (int turn = 1;; ++turn) {
    Retyped retyped(step, Way::kAllLow, low, found);
    Step changed = retyped.Run();
    const size_t known = found.size();
    found.Add(retyped.found());
    if (found.size() == known || turn == kMostTurns) return changed;
  }
}

}  // namespace vramscope::whatif
