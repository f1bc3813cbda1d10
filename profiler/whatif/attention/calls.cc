// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>

#include "profiler/whatif/attention/attention.h"
#include "profiler/whatif/precision/precision.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

constexpr std::string_view kProducts[] = {"aten::matmul", "aten::bmm"};
// What stands between the products: it changes scores and weights one by one, or shows them in another shape.
constexpr std::string_view kBetween[] = {
    "aten::mul",     "aten::div",     "aten::add",        "aten::sub",  "aten::masked_fill",  "aten::where",
    "aten::to",      "aten::type_as", "aten::_to_copy",   "aten::view", "aten::_unsafe_view", "aten::reshape",
    "aten::dropout", "aten::float",   "aten::contiguous", "aten::type", "aten::expand"};
constexpr size_t kFar = 64;  // operators from a softmax to its products, at most

template <class Names>
bool IsOneOf(std::string_view name, const Names& names) {
  if (name.ends_with('_')) name.remove_suffix(1);
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

class Finder {
 public:
  explicit Finder(const Step& step) : step_(step), extent_(step.blocks.size(), 0) {
    for (const Operand& operand : step.operands) {
      if (operand.block == kNone || !step.shapes[operand.strides].known) continue;
      uint64_t end = operand.offset + 1;
      for (uint32_t d = 0; d < step.Rank(operand.shape); ++d)
        end += static_cast<uint64_t>(std::max<int64_t>(step.Dims(operand.shape)[d] - 1, 0) *
                                     step.Dims(operand.strides)[d]);
      extent_[operand.block] = std::max(extent_[operand.block], end);
    }
    for (uint32_t i = 0; i < step.ops.size(); ++i) {
      const Op& op = step.ops[i];
      if (op.node == kNone && op.parent == kNone && op.end < step.ForwardEnd()) outer_.push_back(i);
    }
  }

  std::vector<AttentionCall> Find() {
    std::vector<AttentionCall> calls;
    for (size_t i = 0; i < outer_.size(); ++i) {
      const std::string_view name = step_.NameOf(step_.ops[outer_[i]]);
      AttentionCall call;
      bool found = false;
      if (name == "aten::scaled_dot_product_attention") found = OfFunction(outer_[i], call);
      if (name == "aten::softmax" || name == "aten::_softmax") found = WrittenOut(i, call);
      if (!found) continue;
      Complete(call);
      calls.push_back(std::move(call));
    }
    return calls;
  }

 private:
  [[nodiscard]] const Operand* Argument(const Op& op, uint16_t place) const {
    for (uint32_t i = 0; i < op.input_count; ++i) {
      const Operand& operand = step_.operands[op.first_input + i];
      if (operand.argument == place) return &operand;
    }
    return nullptr;
  }

  [[nodiscard]] uint32_t Behind(Position end) const {
    const auto behind = std::lower_bound(step_.ops.begin(), step_.ops.end(), end,
                                         [](const Op& op, Position at) { return op.begin < at; });
    return static_cast<uint32_t>(behind - step_.ops.begin());
  }

  // F.scaled_dot_product_attention
  bool OfFunction(uint32_t index, AttentionCall& call) const {
    const Op& op = step_.ops[index];
    const Operand *query = Argument(op, 0), *key = Argument(op, 1), *value = Argument(op, 2);
    if (query == nullptr || key == nullptr || value == nullptr || op.output_count == 0) return false;
    call.query = *query, call.key = *key, call.value = *value;
    if (const Operand* const mask = Argument(op, 3); mask != nullptr && mask->block != kNone)
      Mask(*mask, call);
    call.first = index;
    call.last = Behind(op.end);
    call.forward = {op.begin, op.end};
    call.causal = op.sixth;
    call.output = step_.operands[op.first_output].block;
    call.kernel = AttentionKernel::kOther;
    call.why_not = "its kernel is none of flash, efficient and math";
    for (uint32_t i = index; i < call.last; ++i) {
      const std::string_view name = step_.NameOf(step_.ops[i]);
      call.dropout |= name == "aten::native_dropout" || DrawsOnHost(step_.ops[i]);
      const bool efficient = name == kEfficientForward;
      if (!efficient && name != "aten::_flash_attention_forward" && name != kMathAttention) continue;
      call.kernel = efficient                                  ? AttentionKernel::kEfficient
                    : name == "aten::_flash_attention_forward" ? AttentionKernel::kFlash
                                                               : AttentionKernel::kMath;
      call.why_not.clear();
    }
    return true;
  }

  // With dropout the seeds of memory-efficient attention are numbers of the host; without, zeros of the
  // device.
  [[nodiscard]] bool DrawsOnHost(const Op& op) const {
    constexpr uint16_t kSeed = 2;
    if (step_.NameOf(op) != kEfficientForward) return false;
    for (uint32_t i = 0; i < op.output_count; ++i) {
      const Operand& result = step_.operands[op.first_output + i];
      if (result.argument == kSeed && result.block != kNone) return false;
    }
    return true;
  }

  void Mask(const Operand& mask, AttentionCall& call) const {
    call.masks.push_back(mask.block);
    if (mask.dtype == kBoolType && step_.Rank(mask.shape) > 0) {
      call.bools = ElementsIn(step_, mask);
      call.bools_of_each =
          step_.Rank(call.query.shape) > 0 && step_.Dims(mask.shape)[0] == step_.Dims(call.query.shape)[0];
    }
    if ((mask.flags & trace::kTensorRequiresGrad) != 0 && call.why_not.empty())
      call.why_not = "what is added to its scores is trained";
  }

  [[nodiscard]] bool Has(const Op& op, bool results, const std::set<uint32_t>& blocks) const {
    const uint32_t first = results ? op.first_output : op.first_input;
    const uint32_t count = results ? op.output_count : op.input_count;
    for (uint32_t i = first; i < first + count; ++i)
      if (blocks.contains(step_.operands[i].block)) return true;
    return false;
  }

  // From the softmax back to the product that made the scores; kNone: there is none.
  [[nodiscard]] size_t ProductBefore(size_t softmax, uint64_t scores) const {
    std::set<uint32_t> wanted = {step_.operands[step_.ops[outer_[softmax]].first_input].block};
    for (size_t i = softmax; i-- > 0 && softmax - i < kFar;) {
      const Op& op = step_.ops[outer_[i]];
      if (!Has(op, true, wanted)) continue;
      const std::string_view name = step_.NameOf(op);
      if (IsOneOf(name, kProducts)) return i;
      if (!IsOneOf(name, kBetween)) return kNone;
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const Operand& input = step_.operands[op.first_input + k];
        if (input.block != kNone && ElementsIn(step_, input) == scores) wanted.insert(input.block);
      }
    }
    return kNone;
  }

  [[nodiscard]] size_t ProductBehind(size_t softmax) const {
    std::set<uint32_t> held = {step_.operands[step_.ops[outer_[softmax]].first_output].block};
    for (size_t i = softmax + 1; i < outer_.size() && i - softmax < kFar; ++i) {
      const Op& op = step_.ops[outer_[i]];
      if (!Has(op, false, held)) continue;
      const std::string_view name = step_.NameOf(op);
      if (IsOneOf(name, kProducts)) return i;
      if (!IsOneOf(name, kBetween)) return kNone;
      for (uint32_t k = 0; k < op.output_count; ++k) {
        if (step_.operands[op.first_output + k].block != kNone)
          held.insert(step_.operands[op.first_output + k].block);
      }
    }
    return kNone;
  }

  // matmul, softmax, matmul.
  bool WrittenOut(size_t softmax, AttentionCall& call) const {
    const Op& middle = step_.ops[outer_[softmax]];
    if (middle.input_count == 0 || middle.output_count == 0) return false;
    const Operand& scores = step_.operands[middle.first_input];
    const uint32_t rank = step_.Rank(scores.shape);
    if (rank < 3 || rank > 4 || scores.block == kNone) return false;
    const size_t before = ProductBefore(softmax, ElementsIn(step_, scores));
    const size_t behind = ProductBehind(softmax);
    if (before == kNone || behind == kNone) return false;
    const Op &first = step_.ops[outer_[before]], &second = step_.ops[outer_[behind]];
    if (first.input_count != 2 || second.input_count != 2 || second.output_count == 0) return false;
    call.written_out = true;
    call.query = step_.operands[first.first_input];
    call.key = step_.operands[first.first_input + 1];
    call.value = step_.operands[second.first_input + 1];
    call.first = outer_[before];
    call.forward = {first.begin, second.end};
    call.last = Behind(second.end);
    call.output = step_.operands[second.first_output].block;
    for (uint32_t i = call.first; i < call.last; ++i)
      call.dropout |= step_.NameOf(step_.ops[i]) == "aten::native_dropout";
    FindMasks(call);
    if (call.why_not.empty() && IsSeenElsewhere(call))
      call.why_not = "what is made between its products is used elsewhere too";
    return true;
  }

  // What was there before and meets the scores.
  void FindMasks(AttentionCall& call) const {
    std::set<uint32_t> seen = {call.query.block, call.key.block, call.value.block};
    for (uint32_t i = call.first; i < call.last; ++i) {
      const Op& op = step_.ops[i];
      if (op.parent != kNone) continue;
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const Operand& input = step_.operands[op.first_input + k];
        if (input.block == kNone || step_.blocks[input.block].begin >= call.forward.begin) continue;
        if (ElementsIn(step_, input) > 1 && seen.insert(input.block).second) Mask(input, call);
      }
    }
  }

  [[nodiscard]] bool IsSeenElsewhere(const AttentionCall& call) const {
    const auto inside = [&](Position at) { return at > call.forward.begin && at < call.forward.end; };
    for (uint32_t i = call.last; i < step_.ops.size() && step_.ops[i].begin < step_.ForwardEnd(); ++i) {
      const Op& op = step_.ops[i];
      for (uint32_t k = 0; k < op.input_count; ++k) {
        const uint32_t block = step_.operands[op.first_input + k].block;
        if (block != kNone && block != call.output && inside(step_.blocks[block].begin)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] uint64_t BytesOfElement(uint32_t block) const {
    const uint64_t extent = std::max<uint64_t>(extent_[block], 1);
    return (step_.blocks[block].requested + extent - 1) / extent;
  }

  void Complete(AttentionCall& call) const {
    const auto fail = [&](const char* why) {
      if (call.why_not.empty()) call.why_not = why;
    };
    const uint32_t rank = step_.Rank(call.query.shape);
    if (rank < 3 || rank > 4 || step_.Rank(call.key.shape) != rank || step_.Rank(call.value.shape) != rank ||
        call.query.block == kNone || call.key.block == kNone || call.value.block == kNone ||
        call.output == kNone)
      return fail(
          "the shapes of its queries, keys and values were not recorded as [batch, heads, rows, width]");
    const int64_t *query = step_.Dims(call.query.shape), *value = step_.Dims(call.value.shape);
    call.batch = query[0];
    call.heads = rank == 4 ? query[1] : 1;
    call.rows = query[rank - 2];
    call.width = query[rank - 1];
    call.columns = value[rank - 2];
    call.key_heads = rank == 4 ? value[1] : 1;
    if (rank == 4 && (step_.Dims(call.key.shape)[1] != call.key_heads || call.key_heads < 1 ||
                      call.heads % call.key_heads != 0))
      fail("its keys and values have other numbers of heads than can be shared");
    if (value[rank - 1] != call.width) fail("its values are as wide as its queries in no head");
    call.element = BytesOfElement(call.query.block);
    if (call.element != 2 && call.element != 4) fail("it computes neither in float32 nor in 16 bits");
    call.retyped = call.element != BytesOf(call.query.dtype);
    call.casts = BytesOfElement(call.output) != call.element;
    // Which 16 bits get without a mask (precision/kernels.h).
    if (call.casts && call.kernel == AttentionKernel::kEfficient && call.masks.empty())
      call.kernel = AttentionKernel::kFlash;
    FindBackward(call);
  }

  void FindBackward(AttentionCall& call) const {
    call.backward = {kForever, kBefore};
    for (uint32_t i = 0; i < step_.nodes.size(); ++i) {
      const Node& node = step_.nodes[i];
      if (node.made <= call.forward.begin || node.made >= call.forward.end) continue;
      call.nodes.push_back(i);
      if (node.end >= kForever) continue;
      call.backward = {std::min(call.backward.begin, node.begin), std::max(call.backward.end, node.end)};
    }
    if (call.backward.end == kBefore) call.backward = {};
    FindGiven(call);
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.begin > call.backward.begin && block.begin < call.backward.end && !block.workspace &&
          block.end > call.backward.end)
        call.gradients.push_back(i);
    }
    if (call.gradients.size() > 3 && call.why_not.empty())
      call.why_not = "other layers run between the parts of its backward";
  }

  void FindGiven(AttentionCall& call) const {
    for (const Op& op : step_.ops) {
      if (op.begin < call.backward.begin || op.node == kNone || op.name != step_.nodes[op.node].name)
        continue;
      if (op.begin > call.backward.end) return;
      if (op.input_count != 0) call.given = step_.operands[op.first_input];
      return;
    }
  }

  const Step& step_;
  std::vector<uint64_t> extent_;  // by block: elements up to the last one that an operand shows
  std::vector<uint32_t> outer_;   // operators of forward that the program calls
};

}  // namespace

std::vector<AttentionCall> AttentionCalls(const Step& step) { return Finder(step).Find(); }

}  // namespace vramscope::whatif
