// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/training/cross_entropy.h"

#include <algorithm>
#include <set>

#include "profiler/whatif/lifetimes/last_uses.h"
#include "profiler/whatif/sizes/batch_axis.h"
#include "profiler/whatif/step/cublas.h"
#include "profiler/whatif/training/parameters.h"
#include "profiler/whatif/training/stage.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr uint64_t kIndex = 8, kBool = 1;
constexpr int64_t kMostParts = 4;  // that are written out: the others are like the second and third

class LossFinder {
 public:
  explicit LossFinder(const Step& step) : step_(step) {}

  Result<LinearLoss> Find() {
    for (uint32_t i = 0; i < step_.ops.size(); ++i) {
      if (step_.ops[i].node != kNone || step_.NameOf(step_.ops[i]) != "aten::cross_entropy_loss") continue;
      if (loss_.loss != kNone) return Error{"the recorded step computes several losses."};
      loss_.loss = i;
    }
    if (loss_.loss == kNone)
      return Error{"no cross-entropy was seen in the recorded step (F.cross_entropy, nn.CrossEntropyLoss)."};
    const Op& loss = step_.ops[loss_.loss];
    if (loss.input_count < 2 || step_.Rank(step_.operands[loss.first_input].shape) != 2)
      return Error{"the loss is not of rows and classes, as [tokens, vocabulary]."};
    if (!FindProduct(step_.operands[loss.first_input].block))
      return Error{"the logits are not what a linear layer with a weight of its own hands out."};
    if (!Follow())
      return Error{"the logits are used for something else too, so they must be there as a whole."};
    FindBackward();
    if (loss_.gradients.size() < 2)
      return Error{
          "the weight of the last layer and what goes into it get no gradients in the recorded step."};
    return std::move(loss_);
  }

 private:
  [[nodiscard]] bool Has(const Op& op, bool results, uint32_t block) const {
    const uint32_t first = results ? op.first_output : op.first_input;
    const uint32_t count = results ? op.output_count : op.input_count;
    for (uint32_t i = first; i < first + count; ++i)
      if (step_.operands[i].block == block) return block != kNone;
    return false;
  }

  // Back from the loss, over what only shows or converts.
  bool FindProduct(uint32_t wanted) {
    for (uint32_t i = loss_.loss; i-- > 0;) {
      const Op& op = step_.ops[i];
      if (op.node != kNone || !Has(op, true, wanted) || step_.blocks[wanted].begin < op.begin) continue;
      const std::string_view name = step_.NameOf(op);
      const bool biased = name == "aten::addmm" || name == "aten::_addmm_activation";
      if (biased || name == "aten::mm") return Read(i, biased ? 1 : 0);
      if (name != "aten::_to_copy" && name != "aten::clone") continue;
      if (op.input_count == 0) return false;
      wanted = step_.operands[op.first_input].block;
    }
    return false;
  }

  bool Read(uint32_t index, uint32_t first) {
    const Op& op = step_.ops[index];
    if (op.input_count != first + 2 || op.output_count == 0) return false;
    const Operand* const factors = step_.operands.data() + op.first_input + first;
    const uint32_t logits = step_.operands[op.first_output].block;
    if (step_.Rank(factors[0].shape) != 2 || step_.Rank(factors[1].shape) != 2 || factors[0].block == kNone ||
        factors[1].block == kNone || logits == kNone)
      return false;
    loss_.product = index;
    loss_.hidden = factors[0].block;
    loss_.weight = factors[1].block;
    loss_.bias = first == 1 ? step_.operands[op.first_input].block : kNone;
    loss_.rows = step_.Dims(factors[0].shape)[0];
    loss_.width = step_.Dims(factors[0].shape)[1];
    loss_.vocabulary = step_.Dims(factors[1].shape)[1];
    loss_.element = step_.blocks[logits].requested / static_cast<uint64_t>(loss_.rows * loss_.vocabulary);
    loss_.made = {logits};
    return step_.blocks[loss_.weight].category == Category::kParameter && loss_.element != 0;
  }

  // Everything that is made of the logits; false where it leads elsewhere than into the loss.
  bool Follow() {
    std::set<uint32_t> made(loss_.made.begin(), loss_.made.end());
    const Op& loss = step_.ops[loss_.loss];
    for (uint32_t i = loss_.product + 1; i < step_.ops.size(); ++i) {
      const Op& op = step_.ops[i];
      if (op.node != kNone || op.begin > step_.ForwardEnd()) continue;
      const bool takes = std::any_of(made.begin(), made.end(), [&](uint32_t b) { return Has(op, false, b); });
      if (!takes || i == loss_.loss) continue;
      if (op.begin > loss.end) return false;
      for (uint32_t k = 0; k < op.output_count; ++k) {
        const Operand& result = step_.operands[op.first_output + k];
        if (result.block != kNone && step_.Rank(result.shape) > 0) made.insert(result.block);
      }
    }
    loss_.made.assign(made.begin(), made.end());
    return true;
  }

  void FindBackward() {
    const uint32_t outer = step_.ops[loss_.product].parent;
    const Position from = step_.ops[outer == kNone ? loss_.product : outer].begin;
    loss_.backward = {kForever, kBefore};
    for (uint32_t i = 0; i < step_.nodes.size(); ++i) {
      const Node& node = step_.nodes[i];
      if (node.made <= from || node.made >= step_.ops[loss_.loss].end || node.end >= kForever) continue;
      loss_.nodes.push_back(i);
      loss_.backward = {std::min(loss_.backward.begin, node.begin), std::max(loss_.backward.end, node.end)};
    }
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (OfNodes(block) && !block.workspace && block.end > loss_.backward.end) loss_.gradients.push_back(i);
    }
  }

  [[nodiscard]] bool OfNodes(const StepBlock& block) const {
    if (block.op == kNone) return false;
    const uint32_t node = step_.ops[block.op].node;
    return node != kNone && std::find(loss_.nodes.begin(), loss_.nodes.end(), node) != loss_.nodes.end();
  }

  const Step& step_;
  LinearLoss loss_;
};

class Parts {
 public:
  Parts(const Step& step, const LinearLoss& loss, int64_t rows)
      : step_(step), loss_(loss), changed_(step), rows_(std::min(rows, loss.rows)) {
    for (const StepBlock& block : step.blocks)
      if (block.workspace && block.op == loss.product) workspace_ = block.requested;
    const Result<BatchAxis>& axis = FollowBatch(step);
    if (axis.ok()) device_ = axis->device;
  }

  Step Run() && {
    Clear();
    const Op& op = step_.ops[loss_.loss];
    Stage stage(changed_, {op.begin, op.end}, loss_.loss, step_.blocks[loss_.hidden].stream, true);
    std::vector<uint32_t> gradients = loss_.gradients;
    const auto of_weights = std::stable_partition(gradients.begin(), gradients.end(), [&](uint32_t gradient) {
      return step_.blocks[gradient].requested == HiddenBytes();
    });
    for (auto gradient = gradients.begin(); gradient != gradients.end(); ++gradient) {
      const uint32_t delivered = gradient < of_weights ? *gradient : AddedToInPlace(*gradient);
      stage.Deliver(delivered);
      if (gradient >= of_weights) changed_.blocks[delivered].op = kNone;  // as large with any batch
      changed_.saved.push_back({delivered, loss_.nodes.front(), op.end - kHair, loss_.backward.end - kHair});
    }
    if (gradients.begin() != of_weights) FollowRows(gradients.front());
    const uint32_t total = Scalar(kFloatBytes, stage);
    const int64_t parts = (loss_.rows + rows_ - 1) / rows_;
    // Of two parts in a row the labels lie in two places by turns: as even a number as that of all.
    const int64_t written = parts < kMostParts ? parts : kMostParts - parts % 2;
    Labels labels;
    for (int64_t i = 0; i < written; ++i) {
      const bool last = i + 1 == written;
      labels = Part(last ? loss_.rows - (parts - 1) * rows_ : rows_, labels, stage);
    }
    const uint32_t count = Count(stage);
    if (const uint32_t result = ResultOfLoss(); result != kNone) stage.Deliver(result);
    stage.Free(total), labels.Free(stage), stage.Free(count);
    return std::move(changed_);
  }

 private:
  // Of the part at hand: where its labels are, and which of them count. Variables have them until the next's.
  struct Labels {
    uint32_t chosen = kNone, used = kNone;
    void Free(Stage& stage) const {
      if (chosen != kNone) stage.Free(used), stage.Free(chosen);
    }
  };

  [[nodiscard]] uint64_t HiddenBytes() const {
    return static_cast<uint64_t>(loss_.rows * loss_.width) * loss_.element;
  }

  // So that the batch is followed from what goes in to the gradient of it.
  void FollowRows(uint32_t gradient) {
    Op& op = changed_.ops[loss_.loss];
    const std::span<const Operand> product = InputsOf(step_, step_.ops[loss_.product]);
    const auto hidden = std::find_if(product.begin(), product.end(),
                                     [&](const Operand& one) { return one.block == loss_.hidden; });
    if (hidden == product.end()) return;
    std::vector<Operand> operands = {*hidden};
    const std::span<const Operand> results = OutputsOf(changed_, op);
    operands.insert(operands.end(), results.begin(), results.end());
    operands.push_back(*hidden);
    operands.back().block = gradient;
    for (Operand& operand : operands) operand.op = loss_.loss;
    op.first_input = static_cast<uint32_t>(changed_.operands.size()), op.input_count = 1;
    op.first_output = op.first_input + 1, op.output_count = static_cast<uint32_t>(operands.size()) - 1;
    changed_.operands.insert(changed_.operands.end(), operands.begin(), operands.end());
  }

  // As large with any batch.
  uint32_t Scalar(uint64_t bytes, Stage& stage) {
    const uint32_t block = stage.Take(bytes);
    changed_.blocks[block].op = kNone;
    return block;
  }

  // The engine adds a second gradient of a tied weight to the first one where it lies, unless that is a view,
  // as what a linear layer hands out is (can_accumulate_inplace). The sum has the gradient's place then.
  uint32_t AddedToInPlace(uint32_t gradient) {
    for (const Op& op : step_.ops) {
      if (op.node == kNone || op.input_count < 2 || op.output_count == 0) continue;
      if (step_.NameOf(op) != "aten::add" || InputsOf(step_, op)[0].block != gradient) continue;
      const uint32_t sum = OutputsOf(step_, op)[0].block;
      if (sum == kNone || sum == gradient || step_.blocks[sum].begin < op.begin) continue;
      if (step_.blocks[gradient].end < op.begin) continue;
      Drop(changed_.blocks[gradient]);
      return sum;
    }
    return gradient;
  }

  [[nodiscard]] uint32_t ResultOfLoss() const {
    const Op& op = step_.ops[loss_.loss];
    return op.output_count == 0 ? kNone : OutputsOf(step_, op)[0].block;
  }

  void Clear() {
    for (const uint32_t block : loss_.made) Drop(changed_.blocks[block]);
    // logits.float() of a model in 16 bits, which a lever put in.
    for (StepBlock& block : changed_.blocks) {
      if (std::find(loss_.made.begin(), loss_.made.end(), block.copy_of) != loss_.made.end()) Drop(block);
    }
    const auto of_loss = [&](uint32_t node) {
      return node != kNone && std::find(loss_.nodes.begin(), loss_.nodes.end(), node) != loss_.nodes.end();
    };
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.op == kNone) continue;
      const bool kept = std::find(loss_.gradients.begin(), loss_.gradients.end(), i) != loss_.gradients.end();
      const bool workspace = block.workspace && block.op == loss_.product;
      if (workspace || (!kept && of_loss(step_.ops[block.op].node))) Drop(changed_.blocks[i]);
    }
    const Op& loss = step_.ops[loss_.loss];
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (loss.begin < block.begin && block.begin < loss.end && i != ResultOfLoss()) Drop(changed_.blocks[i]);
    }
    FreeOnTheWayToLabels();
    FreeBehindLoss(loss_.hidden, of_loss);
    for (const Saved& saved : step_.saved) {
      if (of_loss(saved.node) && saved.block != loss_.hidden) FreeBehindLoss(saved.block, of_loss);
    }
    std::erase_if(changed_.saved, [&](const Saved& saved) { return of_loss(saved.node); });
  }

  // What the function that computes the loss had in variables until it returned, such as labels before they
  // were shifted, goes with its last use: it is another function now. A variable from before the logits lives
  // until the model returns what they were computed from.
  void FreeOnTheWayToLabels() {
    const Op& loss = step_.ops[loss_.loss];
    const auto next = std::find_if(step_.ops.begin() + loss_.loss, step_.ops.end(),
                                   [&](const Op& op) { return op.begin > loss.end; });
    const Position returned = next == step_.ops.end() ? step_.ForwardEnd() : next->begin;
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.begin == kBefore || loss.begin < block.begin) continue;
      if (block.end < loss.end || returned < block.end || changed_.blocks[i].requested == 0) continue;
      const Op& product = step_.ops[loss_.product];
      const Position least = block.begin < product.begin ? product.begin : block.begin;
      changed_.blocks[i].end = std::max(LastUsesOf(step_).of_block[i], least) + kHair;
    }
  }

  // What nodes of the loss kept goes with the variables that have it, where only they had it for longer.
  template <class OfLoss>
  void FreeBehindLoss(uint32_t block, OfLoss of_loss) {
    Position kept = step_.ops[loss_.loss].end, released = kBefore;
    for (const Saved& saved : step_.saved) {
      if (saved.block != block) continue;
      if (of_loss(saved.node))
        released = std::max(released, step_.nodes[saved.node].end);
      else
        kept = std::max(kept, saved.released);
    }
    StepBlock& changed = changed_.blocks[block];
    if (changed.begin != kBefore && changed.end <= released) changed.end = kept + kHair;
  }

  Labels Part(int64_t rows, const Labels& before, Stage& stage) {
    const auto each = static_cast<uint64_t>(rows);
    const uint64_t elements = each * static_cast<uint64_t>(loss_.vocabulary);
    const uint32_t logits = stage.Take(elements * loss_.element);
    stage.Workspace(workspace_);
    const bool low = loss_.element != kFloatBytes;
    const uint32_t widened = low ? stage.Take(elements * kFloatBytes) : kNone;
    uint32_t gradient = stage.Take(elements * kFloatBytes);
    if (low) stage.Free(widened);
    Labels labels;
    labels.chosen = stage.Take(each * kIndex);
    labels.used = stage.Take(each * kBool);
    before.Free(stage);
    AddToLoss(rows, stage);
    stage.Free(stage.Take(each * kFloatBytes));  // -1 for each label
    if (low) {
      const uint32_t narrowed = stage.Take(elements * loss_.element);
      stage.Free(gradient);
      gradient = narrowed;
    }
    stage.Workspace(workspace_ == 0 ? 0 : ConfiguredWorkspace(step_));
    stage.Workspace(workspace_ == 0 ? 0 : ConfiguredWorkspace(step_));
    if (loss_.bias != kNone) {
      const uint32_t of_bias = Scalar(static_cast<uint64_t>(loss_.vocabulary) * loss_.element, stage);
      Scratch({{{rows, loss_.vocabulary, true}, {loss_.vocabulary, 1, false}}, kFloatBytes}, stage);
      stage.Free(of_bias);
    }
    stage.Free(logits), stage.Free(gradient);
    return labels;
  }

  // What the labels were given, its logarithm, the same without those that do not count, and their sum.
  void AddToLoss(int64_t rows, Stage& stage) {
    const uint64_t bytes = static_cast<uint64_t>(rows) * kFloatBytes;
    uint32_t last = stage.Take(bytes);
    for (int i = 0; i < 2; ++i) {
      const uint32_t next = stage.Take(bytes);
      stage.Free(last);
      last = next;
    }
    const uint32_t sum = Scalar(kFloatBytes, stage);
    Scratch({{{rows, 1, true}}, kFloatBytes}, stage);
    stage.Free(last), stage.Free(sum);
  }

  // How many labels count: a sum of truths, converted to integers beside it.
  uint32_t Count(Stage& stage) {
    const uint32_t used = stage.Take(static_cast<uint64_t>(loss_.rows) * kBool);
    const uint32_t count = Scalar(kIndex, stage);
    const uint32_t integers = stage.Take(static_cast<uint64_t>(loss_.rows) * kIndex);
    Scratch({{{loss_.rows, 1, true}}, kIndex}, stage);
    stage.Free(integers), stage.Free(used);
    return count;
  }

  void Scratch(const Reduction& reduction, Stage& stage) {
    const auto [bytes, counters] = ScratchOf(reduction, device_);
    if (bytes == 0) return;
    const uint32_t sums = stage.Take(bytes);
    stage.Free(stage.Take(counters));
    stage.Free(sums);
  }

  const Step& step_;
  const LinearLoss& loss_;
  Step changed_;
  const int64_t rows_;
  uint64_t workspace_ = 0;
  Multiprocessors device_;
};

}  // namespace

Result<LinearLoss> FindLinearLoss(const Step& step) { return LossFinder(step).Find(); }

Step WithLossInParts(const Step& step, const LinearLoss& loss, int64_t rows) {
  return Parts(step, loss, rows).Run();
}

}  // namespace vramscope::whatif
