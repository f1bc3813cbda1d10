// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/freeze.h"

#include <algorithm>
#include <set>
#include <span>

#include "profiler/whatif/attention/frozen_attention.h"
#include "profiler/whatif/lifetimes/caches.h"
#include "profiler/whatif/lifetimes/holders.h"
#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/training/frozen_work.h"
#include "profiler/whatif/training/input_gradients.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

class Freezer {
 public:
  Freezer(const Step& step, const std::function<bool(uint32_t)>& frozen) : step_(step), changed_(step) {
    for (const uint32_t parameter : step.trained) {
      if (frozen(parameter)) names_.insert(step.blocks[parameter].name);
    }
    FindNodes(frozen);
    FindWork();
    StepOnly([&](uint32_t parameter) { return !frozen(parameter); }, changed_);
    for (Operand& operand : changed_.operands)
      if (operand.block != kNone && IsNamedParameter(operand.block) && frozen(operand.block))
        operand.flags &= static_cast<uint8_t>(~trace::kTensorRequiresGrad);
  }

  Step Run() && {
    DropWork();
    DropFolding();
    EndGradients();
    EndUnneededGradients(step_, run_, needed_, changed_);
    LeaveOutSums(step_, made_, changed_);
    DropSaves();
    HoldLeaves();
    return std::move(changed_);
  }

 private:
  [[nodiscard]] std::span<const Operand> Inputs(const Op& op) const {
    return {step_.operands.data() + op.first_input, op.input_count};
  }
  [[nodiscard]] std::span<const Operand> Outputs(const Op& op) const {
    return {step_.operands.data() + op.first_output, op.output_count};
  }
  // Trained, or such that the loss does not come to.
  [[nodiscard]] bool IsNamedParameter(uint32_t block) const {
    return step_.blocks[block].category == classify::Category::kParameter &&
           !step_.blocks[block].name.empty();
  }
  [[nodiscard]] bool IsFrozen(uint32_t block) const {
    return !step_.blocks[block].name.empty() && names_.contains(step_.blocks[block].name);
  }

  // Forward, in the order of time: which nodes are still made.
  void FindNodes(const std::function<bool(uint32_t)>& frozen) {
    std::vector<bool> trains(step_.blocks.size(), true);  // what is in it depends on something trained
    for (uint32_t i = 0; i < step_.blocks.size(); ++i)
      if (IsNamedParameter(i)) trains[i] = !frozen(i);
    for (const uint32_t parameter : step_.trained) trains[parameter] = !IsFrozen(parameter);
    std::set<uint64_t> untrained;  // of tensors without elements, which no block holds
    made_.resize(step_.nodes.size(), true);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < step_.nodes.size(); ++i) {
      if (step_.nodes[i].op != kNone) order.push_back(i);
    }
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return step_.nodes[a].made < step_.nodes[b].made; });
    for (const uint32_t node : order) {
      const Op& op = step_.ops[step_.nodes[node].op];
      bool asked = false, any = false;
      for (const Operand& input : Inputs(op)) {
        const bool empty = IsEmpty(step_, input);
        if ((input.block == kNone && !empty) || (input.flags & trace::kTensorRequiresGrad) == 0) continue;
        asked = true;
        any |= empty ? !untrained.contains(input.tensor) : trains[input.block];
      }
      made_[node] = any || !asked;
      for (const Operand& output : Outputs(op)) {
        if (made_[node] || (output.flags & kAsksForGradient) == 0 || output.block == kNone) continue;
        made_[node] = true;  // in the place of what takes up the gradient of a leaf
        leaves_.emplace_back(node, output);
      }
      const auto decide = [&](const Operand& output) {
        if (output.block != kNone) trains[output.block] = made_[node];
        if (IsEmpty(step_, output) && made_[node]) untrained.erase(output.tensor);
        if (IsEmpty(step_, output) && !made_[node]) untrained.insert(output.tensor);
      };
      std::ranges::for_each(Outputs(op), decide);
      // What a Function of Python's returns is not told of it: what its own operators make is.
      const bool untold = op.output_count == 0 && op.end < kForever;
      for (uint32_t i = step_.nodes[node].op + 1; untold && i < step_.ops.size(); ++i) {
        if (step_.ops[i].begin >= op.end) break;
        std::ranges::for_each(Outputs(step_.ops[i]), decide);
      }
    }
  }

  [[nodiscard]] bool IsLeaf(const Op& op) const {
    return op.node != kNone && op.parent == kNone && step_.nodes[op.node].op == kNone;
  }

  [[nodiscard]] bool IsInside(uint32_t op, uint32_t around) const {
    for (op = step_.ops[op].parent; op != kNone && op != around;) op = step_.ops[op].parent;
    return op == around;
  }

  // Whether nothing but what one of PyTorch's operators around it calls has to do with the block, directly or
  // through others: convolution_backward calls to, and that _to_copy.
  [[nodiscard]] bool IsScratch(uint32_t index, uint32_t block) const {
    const Op& op = step_.ops[index];
    const uint32_t node = step_.nodes[op.node].name;
    for (uint32_t around = op.parent; around != kNone && step_.ops[around].name != node;
         around = step_.ops[around].parent) {
      if (std::all_of(users_[block].begin(), users_[block].end(),
                      [&](uint32_t user) { return IsInside(user, around); }))
        return true;
    }
    return false;
  }

  // Backward, from its end: which operators are still run, as something needs their result.
  void FindWork() {
    users_.resize(step_.blocks.size());
    for (const Operand& operand : step_.operands) {
      if (operand.block != kNone) users_[operand.block].push_back(operand.op);
    }
    run_.resize(step_.ops.size(), true);
    std::vector<bool> needed(step_.blocks.size(), false);
    for (const StepBlock& block : step_.blocks) {
      if (block.accumulated < kForever && !IsFrozen(Number(block))) needed[Number(block)] = true;
    }
    FindCopies();
    for (auto it = step_.op_ends.rbegin(); it != step_.op_ends.rend(); ++it) {
      const Op& op = step_.ops[*it];
      if (op.node == kNone) continue;
      run_[*it] = Runs(*it, needed);
      if (!run_[*it]) continue;
      for (const Operand& input : Inputs(op)) {
        if (input.block == kNone) continue;
        needed[input.block] = true;
        works_on_.emplace(op.node, input.block);
      }
    }
    needed_ = std::move(needed);
  }

  // What takes up a gradient that is a part of a block, or lies otherwise than its parameter, copies it.
  void FindCopies() {
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      uint32_t op = step_.blocks[i].op;
      if (op == kNone || step_.blocks[i].accumulated >= kForever || !IsFrozen(i)) continue;
      while (step_.ops[op].parent != kNone) op = step_.ops[op].parent;
      if (IsLeaf(step_.ops[op])) copies_for_frozen_.insert(op);
    }
  }

  [[nodiscard]] uint32_t Number(const StepBlock& block) const {
    return static_cast<uint32_t>(&block - step_.blocks.data());
  }

  [[nodiscard]] bool Runs(uint32_t index, const std::vector<bool>& needed) const {
    const Op& op = step_.ops[index];
    if (op.parent != kNone && !run_[op.parent]) return false;
    if (!made_[op.node]) return false;
    if (IsLeaf(op)) {
      return !copies_for_frozen_.contains(index) &&
             std::none_of(Inputs(op).begin(), Inputs(op).end(), [&](const Operand& input) {
               return input.block != kNone && step_.blocks[input.block].accumulated < kForever &&
                      IsFrozen(input.block);
             });
    }
    if (op.parent == kNone && op.name == step_.nodes[op.node].name) return true;
    // What one of PyTorch's operators makes for itself is made when it runs. A node's own work is looked at
    // part by part.
    bool asked = false;
    if (ViewsWhatItKeeps(step_, op)) return works_on_.contains({op.node, Inputs(op)[0].block});
    if (op.parent != kNone && ComputesAllGradients(step_, step_.ops[op.parent]) &&
        !IsOfUnneededMask(step_, op, needed))
      return true;
    for (const Operand& output : Outputs(op)) {
      if (output.block == kNone) continue;
      asked = true;
      if (needed[output.block] || IsScratch(index, output.block)) return true;
    }
    return !asked;
  }

  // What operators that do not run would have made, and results that nothing needs of those that do.
  void DropWork() {
    std::vector<bool> gone(step_.blocks.size(), false);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.begin != kBefore && block.op != kNone && step_.ops[block.op].node != kNone && !run_[block.op])
        gone[i] = true;
      if (block.accumulated < kForever && IsFrozen(i)) gone[i] = !HasForAMoment(i);
    }
    for (const Op& op : step_.ops) {
      if (op.node == kNone) continue;
      for (const Operand& output : Outputs(op)) {
        if (output.argument < kOfMask && ComputesAllGradients(step_, op)) continue;
        if (output.block != kNone && step_.blocks[output.block].begin > op.begin && !needed_[output.block] &&
            (output.argument > 0 || TakesMask(step_, op)) && GradientOfAll(step_, output.block) == kNone)
          gone[output.block] = true;
      }
    }
    DropScratch(step_, gone);
    for (uint32_t i = 0; i < gone.size(); ++i) {
      if (gone[i]) Drop(changed_.blocks[i]);
    }
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      if (!run_[i]) changed_.ops[i].input_count = changed_.ops[i].output_count = 0;
    }
    for (uint32_t i = 0; i < made_.size(); ++i) {
      if (!made_[i]) changed_.nodes[i].begin = changed_.nodes[i].end = kForever;
    }
  }

  // Whether a gradient that nothing takes up is computed beside that of the input: it goes with its operator.
  bool HasForAMoment(uint32_t gradient) {
    const uint32_t op = GradientOfAll(step_, gradient);
    if (op == kNone || !run_[op]) return false;
    StepBlock& block = changed_.blocks[gradient];
    block.end = step_.ops[op].end + kHair, block.accumulated = kForever;
    block.name = {}, block.category = classify::Category::kTemporaryBackward;
    return true;
  }

  // matmul copies a batch of matrices that has gaps, to multiply it as one, for a weight that is trained
  // alone: its gradient would be as many. Else it multiplies them one by one (should_fold in
  // aten/src/ATen/native/LinearAlgebra.cpp), and copies them where they cannot be numbered from the first on.
  void DropFolding() {
    std::set<uint32_t> folded;  // which become aten::bmm; what is folded is copied before it is multiplied
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.begin == kBefore || block.op == kNone || block.requested == 0) continue;
      if (const uint32_t product = FoldedForFrozen(block.op); product != kNone)
        Drop(changed_.blocks[i]), folded.insert(product);
      else if (block.workspace && folded.contains(step_.ops[block.op].parent))
        changed_.blocks[i].requested = WorkspaceOfProducts(step_).bytes;  // of aten::bmm in place of aten::mm
    }
  }

  // The product that the operator folds matrices in a row for; kNone: it does not.
  [[nodiscard]] uint32_t FoldedForFrozen(uint32_t op) const {
    if (step_.ops[op].node != kNone) return kNone;
    while (op != kNone && step_.NameOf(step_.ops[op]) != "aten::reshape") op = step_.ops[op].parent;
    const uint32_t product = op == kNone ? kNone : step_.ops[op].parent;
    if (product == kNone || step_.NameOf(step_.ops[product]) != "aten::matmul") return kNone;
    const std::span<const Operand> inputs = Inputs(step_.ops[product]);
    const bool folds = inputs.size() == 2 && inputs[1].block != kNone && IsFrozen(inputs[1].block) &&
                       AreMatricesInARow(step_, inputs[0]);
    return folds ? product : kNone;
  }

  // The engine holds a gradient until the last node that is given it has run, and what comes out of it was
  // summed up: before others, where that one was not made.
  void EndGradients() {
    std::vector<Position> before(step_.blocks.size(), kBefore), now = before, done = before;
    for (const Operand& operand : step_.operands) {
      uint32_t op = operand.op;
      if (operand.block == kNone || step_.ops[op].node == kNone) continue;
      while (step_.ops[op].parent != kNone) op = step_.ops[op].parent;
      const Position end = step_.ops[op].end;
      before[operand.block] = std::max(before[operand.block], end);
      const Position node_end = step_.nodes[step_.ops[op].node].end;
      done[operand.block] = std::max({done[operand.block], end, node_end < kForever ? node_end : end});
      if (run_[operand.op]) now[operand.block] = std::max(now[operand.block], end);
    }
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      StepBlock& block = changed_.blocks[i];
      const bool gradient = block.op != kNone && step_.ops[block.op].node != kNone && block.requested != 0;
      if (gradient && now[i] > block.begin && now[i] < before[i] && block.end > before[i] &&
          block.end < done[i] + kSoon)
        block.end = now[i] + kHair;
    }
  }

  // A node keeps what one of its operators works on that still runs, and what none was seen to work on.
  [[nodiscard]] std::vector<bool> KeptSaves() const {
    std::set<std::pair<uint32_t, uint32_t>> worked, works;  // (node, block)
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      const Op& op = step_.ops[i];
      if (op.node == kNone) continue;
      const bool views = std::any_of(Outputs(op).begin(), Outputs(op).end(), [&](const Operand& output) {
        return output.block != kNone && step_.blocks[output.block].begin < op.begin;
      });
      for (const Operand& input : Inputs(op)) {
        if (input.block == kNone || views) continue;  // a view is no work
        worked.emplace(op.node, input.block);
        if (run_[i]) works.emplace(op.node, input.block);
      }
    }
    std::vector<bool> kept;
    for (const Saved& saved : step_.saved) {
      const std::pair<uint32_t, uint32_t> key{saved.node, saved.block};
      kept.push_back(saved.node == kNone ||
                     (made_[saved.node] && (!worked.contains(key) || works.contains(key))));
    }
    return kept;
  }

  void DropSaves() {
    std::vector<bool> kept = KeptSaves();
    std::vector<Position> before(step_.blocks.size(), kBefore), now = before;
    std::vector<bool> changes(step_.blocks.size(), false);
    for (size_t i = 0; i < step_.saved.size(); ++i) {
      const Saved& saved = step_.saved[i];
      const HeldByCheckpoint held = HeldBy(step_, i, kept);
      const bool given = held.recorded != kBefore;
      if (given) kept[i] = held.now != kBefore;
      before[saved.block] = std::max(before[saved.block], given ? held.recorded : saved.released);
      if (kept[i]) now[saved.block] = std::max(now[saved.block], given ? held.now : saved.released);
      if (!kept[i] || held.now < held.recorded) changes[saved.block] = true;
      if (!kept[i] && !given && !made_[saved.node] && IsCopyForItsNode(step_, saved))
        Drop(changed_.blocks[saved.block]);
    }
    const std::optional<Step> without = WithoutCallsInBackward(step_);
    const Holders holders(without ? *without : step_);
    for (const Operand& operand : step_.operands) {
      const Op& op = step_.ops[operand.op];
      if (operand.block != kNone && op.end < kForever && run_[operand.op])
        now[operand.block] =
            std::max({now[operand.block], op.end, OwnVariableUntil(step_, operand), holders.Until(operand)});
    }
    HoldCaches(step_, now);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      StepBlock& block = changed_.blocks[i];
      // Somebody else held it longer.
      if (!changes[i] || block.begin == kBefore || block.end > before[i] + kSoon) continue;
      block.end = std::min(block.end, std::max(now[i], block.begin) + kHair);
    }
    std::vector<Saved> left;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (kept[i]) left.push_back(step_.saved[i]);
    }
    changed_.saved = std::move(left);
  }

  // A leaf and its gradient are there as long as the graph is, which the loss has until it has another value.
  // A gradient that does not lie as the leaf does is copied (accumulateGrad in
  // torch/csrc/autograd/functions/accumulate_grad.h).
  void HoldLeaves() {
    const Position end = GraphGoes(step_);
    for (const auto& [node, leaf] : leaves_) {
      changed_.blocks[leaf.block].end = end + kHair;
      for (uint32_t i = 0; i < step_.ops.size(); ++i) {
        const Op& op = step_.ops[i];
        if (op.node != node || op.parent != kNone || op.name != step_.nodes[node].name || op.input_count == 0)
          continue;
        const Operand& gradient = Inputs(op)[0];
        if (gradient.block == kNone) continue;
        const bool known = step_.shapes[gradient.strides].known && step_.shapes[leaf.strides].known;
        if (!known ||
            ObeysLayout(SizesOf(step_, gradient), StridesOf(step_, gradient), StridesOf(step_, leaf)))
          changed_.blocks[gradient.block].end = end;
        else
          changed_.blocks.push_back(CopiedOf(gradient, i, end));
      }
    }
  }
  [[nodiscard]] StepBlock CopiedOf(const Operand& gradient, uint32_t op, Position end) const {
    StepBlock copy = CopyOf(step_, gradient.block);
    copy.requested = ElementsIn(step_, gradient) * BytesOf(gradient.dtype);
    copy.op = op, copy.begin = step_.ops[op].begin + kHair, copy.end = end;
    return copy;
  }

  const Step& step_;
  Step changed_;
  std::set<std::pair<uint32_t, uint32_t>> works_on_;  // (node, block): operators that still run are given it
  std::set<uint32_t> copies_for_frozen_;      // operators of leaves that copy a gradient of something frozen
  std::set<std::string_view> names_;          // of frozen parameters
  std::vector<bool> made_;                    // by node
  std::vector<bool> run_;                     // by operator of backward
  std::vector<std::vector<uint32_t>> users_;  // by block: operators that it is an operand or a result of
  std::vector<bool> needed_;                  // by block: of backward
  std::vector<std::pair<uint32_t, Operand>> leaves_;  // by node: what the program asks a gradient of
};

}  // namespace

Step Frozen(const Step& step, const std::function<bool(uint32_t)>& frozen) {
  return Freezer(step, frozen).Run();
}

}  // namespace vramscope::whatif
