// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/precision/gradients.h"

#include <algorithm>

#include "profiler/whatif/attention/wide_products.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {

using model::kNone;

namespace {
constexpr Position kReplaced = 1.45;  // a free behind the operator
constexpr std::string_view kCopyBackward = "torch::autograd::CopyBackwards";

uint64_t BytesOfFloats(const Step& step, const Operand& operand) {
  return ElementsIn(step, operand) * BytesOf(kFloatType);
}

}  // namespace

std::span<const Operand> ResultsOf(const Step& step, uint32_t op) {
  const Op& whole = step.ops[op];
  std::span<const Operand> results = OutputsOf(step, whole);
  if (!results.empty()) return results;
  Position last = 0;
  for (uint32_t i = op + 1; i < step.ops.size() && step.ops[i].begin < whole.end; ++i) {
    const Op& inner = step.ops[i];
    const std::span<const Operand> made = OutputsOf(step, inner);
    if (made.empty() || made[0].block == kNone || inner.end < last || inner.end > whole.end) continue;
    if (step.blocks[made[0].block].end <= whole.end) continue;
    results = made;
    last = inner.end;
  }
  return results;
}

std::vector<std::vector<uint32_t>> NodesByOp(const Step& step) {
  std::vector<std::vector<uint32_t>> nodes(step.ops.size());
  for (uint32_t i = 0; i < step.nodes.size(); ++i)
    if (step.nodes[i].op != kNone) nodes[step.nodes[i].op].push_back(i);
  return nodes;
}

GradientMoments::GradientMoments(const Step& step, const std::vector<CastRule>& rules)
    : step_(step), rules_(rules), converts_(step.ops.size(), false), made_(step.blocks.size()) {
  for (uint32_t i = 0; i < step.operands.size(); ++i) {
    const Operand& operand = step.operands[i];
    if (operand.block != kNone && (operand.flags & trace::kTensorIsOutput) != 0)
      made_[operand.block].push_back(i);
  }
  for (const Node& node : step.nodes)
    if (node.end < kForever) nodes_.emplace_back(node.made, node.end);
  std::sort(nodes_.begin(), nodes_.end());
}

bool GradientMoments::IsForced(uint32_t op) const {
  while (op != kNone && rules_[op] != CastRule::kIntoSingle) op = step_.ops[op].parent;
  return op != kNone;
}

Position GradientMoments::OfLeaf(const Operand& gradient, Position made, Position recorded) const {
  const uint32_t call = CallOf(gradient.block);
  if (call == kNone) return recorded;
  const Position done = NodesEnd(call, made);
  Position next = kForever, accumulated = kBefore;
  for (const Node& other : step_.nodes) {
    if (other.op != kNone && other.begin > done) next = std::min(next, other.begin);
    if (other.op == kNone && other.begin > done && other.end < recorded)
      accumulated = std::max(accumulated, other.end);
  }
  for (const Window& backward : step_.backward)
    if (backward.begin < made && made < backward.end) next = std::min(next, backward.end);
  if (next >= kForever) return recorded;
  // The gradient before it is accumulated first.
  const Position from = recorded < next ? std::max(done, accumulated) : done;
  return std::min(from + kStride * (1 + ArgumentOf(gradient.block, call)), next - kBeforeNode / 4);
}

Position GradientMoments::NodesEnd(uint32_t call, Position from) const {
  for (auto node = std::upper_bound(nodes_.begin(), nodes_.end(), std::pair(step_.ops[call].begin, kForever));
       node != nodes_.end() && node->first < step_.ops[call].end; ++node)
    from = std::max(from, node->second);
  return from;
}

Position GradientMoments::NodesEndBehind(Position made, uint32_t gradient) const {
  const Position begin = step_.blocks[gradient].begin;
  Position end = begin;
  for (const Window& pass : step_.backward) {
    if (begin < pass.begin || begin >= pass.end) continue;
    for (const Node& node : step_.nodes)
      if (node.op != kNone && node.made > made && node.begin < pass.end) end = std::max(end, node.end);
  }
  return end;
}

Position GradientMoments::BehindCall(uint32_t block) const {
  const Position made = step_.blocks[block].begin + kStride;
  const uint32_t call = CallOf(block);
  return call == kNone ? made : NodesEnd(call, made) + kStride * (1 + ArgumentOf(block, call));
}

Position GradientMoments::OfArgument(uint32_t block) const {
  const uint32_t call = CallOf(block);
  const bool none = call == kNone || !converts_[call] || IsSum(block) || IsOfMask(block, call);
  return none ? kForever : BehindCall(block);
}

// Products add a mask as it is: autograd's engine converts its gradient where the node of that addition hands
// it on, which is that of the scores, or a sum of it.
bool GradientMoments::IsOfMask(uint32_t block, uint32_t call) const {
  if (!StaysProducts(step_, step_.ops[call])) return false;
  const std::string_view made = step_.Text(step_.nodes[step_.ops[step_.blocks[block].op].node].name);
  return made.starts_with("SafeSoftmaxBackward") || made.starts_with("AddBackward");
}

// The engine added up two gradients in the node that made the second one.
bool GradientMoments::IsSum(uint32_t block) const {
  const Op& made = step_.ops[step_.blocks[block].op];
  return made.parent == kNone && step_.NameOf(made) == "aten::add";
}

Position GradientMoments::ReadyBefore(const Operand& gradient, uint32_t handed_on, Position before) const {
  const Position shown = std::max(ProducedBefore(gradient.block, before), ViewedBefore(gradient, before));
  return std::max(shown, CheckedBehind(handed_on, gradient.block));
}

Position GradientMoments::HandedOn(const Operand& gradient, uint32_t handed_on, Position before) const {
  const Position made = ViewedBefore(gradient, before);
  return std::max(made == kBefore ? before - kStride : made, CheckedBehind(handed_on, gradient.block));
}

Position GradientMoments::CheckedBehind(uint32_t op, uint32_t block) const {
  return op == kNone ? kBefore : std::max(Checked(op, block), step_.ops[op].end + kStride);
}

Position GradientMoments::ViewedBefore(const Operand& gradient, Position before) const {
  Position made = kBefore;
  if (gradient.block == kNone) return made;
  for (const uint32_t index : made_[gradient.block]) {
    const Operand& operand = step_.operands[index];
    uint32_t op = operand.op;
    if (operand.tensor != gradient.tensor || step_.ops[op].end > before) continue;
    while (step_.ops[op].parent != kNone && step_.NameOf(step_.ops[op]) != kCopyBackward)
      op = step_.ops[op].parent;
    made = std::min(step_.ops[op].end, before) - kStride;
  }
  return made;
}

bool GradientMoments::IsShared(const Operand& gradient, Position made, Position add) const {
  const bool view = (gradient.flags & trace::kTensorIsView) != 0 && ViewedBefore(gradient, add) > made;
  return view || step_.blocks[gradient.block].accumulated < add;
}

// Nodes compute gradients in the order of the names that arguments have: of mm and bmm "mat2", "self".
bool GradientMoments::MadeInTurn(uint32_t block) const {
  const std::string_view made =
      step_.NameOf(step_.ops[step_.nodes[step_.ops[step_.blocks[block].op].node].op]);
  return made != "aten::mm" && made != "aten::bmm";
}

uint32_t GradientMoments::ArgumentOf(uint32_t block, uint32_t call) const {
  if (StaysProducts(step_, step_.ops[call])) return HandedOutBefore(block, call);
  const uint64_t bytes = step_.blocks[block].requested;
  // Of gradients of one size, which are made in the order of the arguments, it is the one behind so many.
  uint32_t before = 0;
  const int32_t back = MadeInTurn(block) ? -1 : 1;
  for (uint32_t other = block + back; other < step_.blocks.size() && CallOf(other) == call; other += back) {
    if (step_.blocks[other].requested == bytes) ++before;
  }
  uint32_t place = 0, last = 0;
  for (const Operand& operand : InputsOf(step_, step_.ops[call])) {
    const uint64_t whole = BytesOfFloats(step_, operand);
    if (whole == bytes) last = place;
    if (whole == bytes && before-- == 0) break;
    ++place;
  }
  return TurnOf(call, last);
}

// Converted by one statement after the other, in which order none of their gradients is there before that of
// the next: what the nodes of the call hand out outlives them.
uint32_t GradientMoments::HandedOutBefore(uint32_t block, uint32_t call) const {
  const Position done = NodesEnd(call, kBefore);
  uint32_t before = 0;
  for (uint32_t other = block; other-- > 0 && step_.blocks[other].begin > step_.ops[call].end;)
    if (CallOf(other) == call && step_.blocks[other].end > done) ++before;
  return before;
}

// Arguments are converted from the last to the first, as compilers evaluate them, but those of a list from
// the first to the last: cat(), einsum(). The engine runs the youngest node first.
uint32_t GradientMoments::TurnOf(uint32_t call, uint32_t place) const {
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[call]);
  if (inputs.empty() || inputs[place].element == 0) return place;
  const auto in_list = [&](const Operand& one) {
    return one.element != 0 && one.argument == inputs[place].argument;
  };
  const auto first = std::ranges::find_if(inputs, in_list) - inputs.begin();
  const auto count = std::ranges::count_if(inputs, in_list);
  return static_cast<uint32_t>(first + count - 1 - (place - first));
}

Position GradientMoments::OfAdded(const Operand& gradient, uint32_t handed_on, Position add, uint32_t node) {
  const uint32_t block = gradient.block;
  Position ready = OfArgument(block);
  if (ready < kForever && ready > add) NoteLateSum(add, CallOf(block));
  if (step_.nodes[node].op == kNone)
    ready = OfLeaf(gradient, step_.blocks[block].begin, step_.blocks[block].begin);
  else if (ready >= kForever)
    ready = ReadyBefore(gradient, handed_on, add);
  return std::min(ready, add - kStride);
}

// x @ weight.t() of a batch: the view of x is made behind t(), so that the engine has the view's gradient
// before it transposes the weight's and adds that to others. The node that converts x is older than both.
void GradientMoments::NoteLateSum(Position add, uint32_t call) {
  const Op& made = step_.ops[call];
  const auto running = std::find_if(step_.nodes.begin(), step_.nodes.end(), [&](const Node& node) {
    return node.begin < add && add < node.end && node.made > made.begin && node.made < made.end;
  });
  if (running == step_.nodes.end()) return;
  const Position done = NodesEnd(call, running->end), from = add - 2 * kStride;
  if (done > running->end && (late_sums_.empty() || late_sums_.back().recorded.end <= from))
    late_sums_.push_back({{from, running->end}, done});
}

void GradientMoments::PutOffSums(Step& changed) const {
  const auto put_off = [&](Position& at) {
    const auto sum = std::partition_point(late_sums_.begin(), late_sums_.end(),
                                          [&](const LateSum& one) { return one.recorded.end <= at; });
    if (sum == late_sums_.end() || at < sum->recorded.begin) return;
    const Position share = (at - sum->recorded.begin) / (sum->recorded.end - sum->recorded.begin);
    at = sum->at + kStride * (1 + share) / 3;  // before what is converted behind the call
  };
  for (StepBlock& block : changed.blocks) put_off(block.begin), put_off(block.end);
}

uint32_t GradientMoments::CallOf(uint32_t block) const {
  const uint32_t op = step_.blocks[block].op;
  const uint32_t node = op == kNone ? kNone : step_.ops[op].node;
  uint32_t call = node == kNone ? kNone : step_.nodes[node].op;
  while (call != kNone && rules_[call] == CastRule::kAsGiven) call = step_.ops[call].parent;
  return call;
}

bool GradientMoments::ByANode(uint32_t block) const {
  const uint32_t call = CallOf(block);
  return call != kNone && rules_[call] != CastRule::kIntoSingle;
}

Position GradientMoments::ProducedBefore(uint32_t block, Position add) const {
  uint32_t op = step_.blocks[block].op;
  while (op != kNone && step_.ops[op].parent != kNone) op = step_.ops[op].parent;
  if (op == kNone || step_.ops[op].end >= add) return add - kStride;
  const Position copied = CopiedWithin(op, block);
  return std::min(copied == kBefore ? Checked(op, block) : copied, add - kStride);
}

// torch::autograd::CopySlices runs the node of copy_(), which converts the gradient itself; else kBefore.
Position GradientMoments::CopiedWithin(uint32_t outermost, uint32_t block) const {
  for (uint32_t i = outermost + 1; i < step_.ops.size() && step_.ops[i].begin < step_.ops[outermost].end;
       ++i) {
    const Op& op = step_.ops[i];
    if (op.parent == outermost && step_.NameOf(op) == kCopyBackward && op.input_count != 0 &&
        InputsOf(step_, op)[0].block == block)
      return op.end - kStride;
  }
  return kBefore;
}

// It sums up what was expanded, and what is summed up goes.
Position GradientMoments::Checked(uint32_t op, uint32_t block) const {
  const Op& own = step_.ops[op];
  if (own.node == kNone || step_.nodes[own.node].op == kNone) return own.end - kStride;
  if (own.name != step_.nodes[own.node].name) return own.end + kReplaced;
  const uint32_t call = step_.nodes[own.node].op;
  const uint32_t argument = ArgumentOfSize(call, step_.blocks[block].requested);
  Position checked = own.end - kStride;
  for (uint32_t i = op + 1; i < step_.ops.size() && step_.ops[i].node == own.node; ++i) {
    const Op& sum = step_.ops[i];
    if (sum.parent != kNone || step_.NameOf(sum) != "aten::sum" || sum.output_count == 0) continue;
    if (ArgumentOfSize(call, BytesOfFloats(step_, OutputsOf(step_, sum)[0])) < argument)
      checked = sum.end + kReplaced;
  }
  return checked;
}

// The first one; the number of arguments where there is none.
uint32_t GradientMoments::ArgumentOfSize(uint32_t call, uint64_t bytes) const {
  const std::span<const Operand> inputs = InputsOf(step_, step_.ops[call]);
  const auto found = std::find_if(inputs.begin(), inputs.end(), [&](const Operand& operand) {
    return BytesOfFloats(step_, operand) == bytes;
  });
  return static_cast<uint32_t>(found - inputs.begin());
}

}  // namespace vramscope::whatif
