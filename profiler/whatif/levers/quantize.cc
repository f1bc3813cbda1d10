// SPDX-License-Identifier: Apache-2.0
// Weights of frozen linear layers as codes of 8 or 4 bits, with a scale for each 64 elements.
//
// Why after the levers that change types: the weight is there in the type that it is computed with, as it
// was, but only while it multiplies. NF4 and blocks of 64: Dettmers et al., QLoRA, 2023; here in torch alone,
// so that the look-up of codes needs indices beside the weight.
//
//   recorded     weight ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━
//   quantized    codes  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━     1/4 or 1/8 of it
//   forward         weight ├─ linear ─┤         backward    weight ├─ gradient of the input ─┤
#include <algorithm>
#include <set>

#include "profiler/whatif/precision/added_gradients.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/training/linears.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

using classify::Category;
using model::kNone;

constexpr int64_t kBlock = 64;        // elements that share a scale
constexpr uint64_t kPairs = 256 * 2;  // of a byte's two codes: what they stand for
constexpr uint64_t kIndex = 4;        // bytes of an index into these
constexpr Position kMoment = 0.1;

struct QuantizeQuestion {
  bool four_bits = false;
  std::string_view patterns;
};

Result<QuantizeQuestion> ParseQuantize(std::string_view value) {
  const size_t colon = value.find(':');
  const std::string_view kind = value.substr(0, colon);
  if ((kind != "int8" && kind != "nf4") || colon + 1 == value.size())
    return Error{"--quantize is int8 or nf4, or int8:'layers.*' for modules, not \"" + std::string(value) +
                 "\"."};
  return QuantizeQuestion{kind == "nf4",
                          colon == std::string_view::npos ? std::string_view{} : value.substr(colon + 1)};
}

class Quantizer {
 public:
  Quantizer(const Step& step, bool four_bits) : step_(step), changed_(step), four_bits_(four_bits) {}

  void Change(const LinearCall& linear) {
    const uint32_t weight = linear.weight;
    const auto elements = static_cast<uint64_t>(linear.in * linear.out);
    element_ = step_.blocks[weight].requested / elements;
    if (done_.insert(weight).second) Store(linear, elements);
    if (linear.call == kNone) return;
    const ModuleCall& call = step_.modules[linear.call];
    const Op& last = LastOf(call);
    Restore(weight, elements, call.begin + kMoment, last.end + kMoment);
    std::vector<bool> of_layer(step_.nodes.size(), false);
    for (uint32_t i = 0; i < step_.nodes.size(); ++i)
      of_layer[i] = step_.nodes[i].made > call.begin && step_.nodes[i].made < call.end;
    for (const Op& op : step_.ops) {
      const std::string_view name = step_.NameOf(op);
      if (op.node == kNone || !of_layer[op.node] || (name != "aten::mm" && name != "aten::bmm")) continue;
      for (uint32_t i = 0; i < op.input_count; ++i) {
        if (step_.operands[op.first_input + i].block != weight) continue;
        const Position end = op.end + kMoment;
        const Position begin = op.begin - 9 * kMoment;
        const uint32_t copy = CopyFor(weight);
        Restore(weight, elements, begin, copy == kNone ? end : begin + 6 * kMoment);
        if (copy != kNone) Add(weight, step_.blocks[copy].requested, begin + 5 * kMoment, end);
        MultiplyAsItIs(op, of_layer);
        if (op.output_count > 0) ReturnAnew(OutputsOf(step_, op)[0].block, of_layer);
      }
    }
    // Nothing of the weight is kept.
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      const StepBlock& block = step_.blocks[i];
      if (block.copy_of == weight && block.begin > call.begin && block.begin < call.end)
        changed_.blocks[i].end = std::min(block.end, last.end);
    }
    std::erase_if(changed_.saved, [&](const Saved& saved) {
      return saved.at > call.begin && saved.at < call.end &&
             (saved.block == weight || step_.blocks[saved.block].copy_of == weight);
    });
  }

  [[nodiscard]] Step Finish() && { return std::move(changed_); }

 private:
  // A gradient that cannot be seen as one matrix is copied for a linear layer, whose backward has views. The
  // layer's own function multiplies it as it is, sample by sample (should_fold in
  // aten/src/ATen/native/LinearAlgebra.cpp), unless it is an expanded one, which cuBLAS cannot be given.
  void MultiplyAsItIs(const Op& product, const std::vector<bool>& of_layer) {
    const uint32_t gradient = InputsOf(step_, product)[0].block;
    for (const Op& op : step_.ops) {
      if (op.node == kNone || !of_layer[op.node] || op.input_count == 0 || op.output_count == 0 ||
          OutputsOf(step_, op)[0].block != gradient || step_.NameOf(op) != "aten::clone")
        continue;
      const Operand& given = InputsOf(step_, op)[0];
      if (given.block == kNone || given.block == gradient || given.shape == kNone ||
          step_.shapes[given.shape].count != 3 ||
          step_.blocks[given.block].requested < step_.blocks[gradient].requested)
        continue;
      StepBlock& kept = changed_.blocks[given.block];
      kept.end = std::max(kept.end, product.end + 2 * kMoment);
      Drop(changed_.blocks[gradient]);
    }
  }

  // The layer's own function returns what it multiplied, where the last of a linear layer's nodes hands on a
  // view of it, so that the engine adds the next gradient to it where it is. `of_layer`, by node: its nodes.
  void ReturnAnew(uint32_t gradient, const std::vector<bool>& of_layer) {
    const uint32_t addition = gradient == kNone ? kNone : AdditionTo(changed_, gradient);
    if (addition == kNone) return;
    const Operand& added = InputsOf(changed_, changed_.ops[addition])[0];
    const bool handed_on = std::any_of(step_.operands.begin(), step_.operands.end(), [&](const Operand& one) {
      const uint32_t node = step_.ops[one.op].node;
      return one.block == gradient && one.tensor == added.tensor && node != kNone && of_layer[node];
    });
    if (handed_on) AddInPlace(addition, changed_);
  }

  [[nodiscard]] const Op& LastOf(const ModuleCall& call) const {
    const auto behind = std::lower_bound(step_.ops.begin(), step_.ops.end(), call.end,
                                         [](const Op& op, Position at) { return op.begin < at; });
    const Op* last = &*(behind - 1);
    while (last->parent != kNone && step_.ops[last->parent].begin > call.begin)
      last = &step_.ops[last->parent];
    return *last;
  }

  // The copy in another type that autocast makes of the weight; kNone without autocast.
  [[nodiscard]] uint32_t CopyFor(uint32_t weight) const {
    for (uint32_t i = 0; i < step_.blocks.size(); ++i) {
      if (step_.blocks[i].copy_of == weight) return i;
    }
    return kNone;
  }

  uint32_t Add(uint32_t weight, uint64_t bytes, Position begin, Position end) {
    StepBlock block = CopyOf(step_, weight);
    block.requested = bytes;
    block.begin = begin;
    block.end = end;
    block.name = {};
    block.category = begin == kBefore                       ? Category::kBuffer
                     : begin < step_.backward.front().begin ? Category::kTemporaryForward
                                                            : Category::kTemporaryBackward;
    changed_.blocks.push_back(block);
    return static_cast<uint32_t>(changed_.blocks.size() - 1);
  }

  // Codes in the place of the weight, and the scales. Buffers of a module go to the device behind its
  // parameters, here the bias (Module._apply in torch/nn/modules/module.py).
  void Store(const LinearCall& linear, uint64_t elements) {
    const uint32_t weight = linear.weight;
    StepBlock& codes = changed_.blocks[weight];
    codes.requested = four_bits_ ? elements / 2 : elements;
    codes.category = Category::kBuffer;
    Position at = SetUpAt(step_, linear);
    if (at < kBefore) codes.set_up = at += kMoment;
    const auto buffer = [&](uint64_t bytes) {
      const uint32_t made = Add(weight, bytes, kBefore, kForever);
      if (at < kBefore) changed_.blocks[made].set_up = at += kMoment;
      return made;
    };
    (void)buffer(elements / kBlock * element_);
    if (!four_bits_) return;
    changed_.blocks[buffer(kPairs * element_)].copy_of = kNone;  // as large for any weight
  }

  // The weight as it is computed with.
  void Restore(uint32_t weight, uint64_t elements, Position begin, Position end) {
    if (four_bits_) (void)Add(weight, elements / 2 * kIndex, begin, begin + 2 * kMoment);
    (void)Add(weight, elements * element_, begin + kMoment, end);
  }

  const Step& step_;
  Step changed_;
  const bool four_bits_;
  uint64_t element_ = 0;  // bytes of one, in the weight
  std::set<uint32_t> done_;
};

class Quantize final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "quantize", "int8 | nf4, with :PATHS", "weights of frozen linear layers in 8 or 4 bits",
        "modules, labels of parameters and operators (a deep step); weights that are not trained"};
    return kInfo;
  }

  bool OnRequest() const override { return true; }
  std::vector<std::string> Settings(const Step&) const override { return {"int8", "nf4"}; }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<QuantizeQuestion> question = ParseQuantize(value);
    if (!question.ok()) return question.error();
    if (step.backward.size() != 1 || step.modules.empty())
      return Error{"calls of modules and one backward pass are needed: record a Python program that trains."};
    std::vector<std::string> shared;
    std::vector<LinearCall> linears = LinearCalls(step, question->patterns, &shared);
    if (linears.empty())
      return Error{"no linear layer was found" +
                   (shared.empty() ? std::string(".")
                                   : ": the weight of " + shared.front() + " is used elsewhere too.")};
    const std::vector<LinearCall> uncalled = UncalledLinears(step, linears, question->patterns);
    linears.insert(linears.end(), uncalled.begin(), uncalled.end());
    for (const LinearCall& linear : linears) {
      if (std::binary_search(step.trained.begin(), step.trained.end(), linear.weight))
        return Error{std::string(linear.path) +
                     ".weight is trained, and codes cannot be: ask for --lora or --freeze with it."};
      if (linear.in * linear.out % kBlock != 0)
        return Error{"the weight of " + std::string(linear.path) + " does not consist of whole blocks of " +
                     std::to_string(kBlock) + " elements."};
    }
    Quantizer quantizer(step, question->four_bits);
    for (const LinearCall& linear : linears) quantizer.Change(linear);
    return std::move(quantizer).Finish();
  }

  Result<Outcome> Apply(const Step&, std::string_view value, Scene&) const override {
    const bool four_bits = value.starts_with("nf4");
    Outcome outcome;
    outcome.code =
        std::string(
            "class Product(torch.autograd.Function):    # the weight is there while it multiplies\n"
            "    def forward(ctx, x, layer):\n"
            "        ctx.layer = layer\n"
            "        return F.linear(x, layer.weight().to(x.dtype), layer.bias)\n"
            "    def backward(ctx, gradient):\n"
            "        return gradient @ ctx.layer.weight().to(gradient.dtype), None\n") +
        (four_bits ? "def weight(self):    # codes: two in a byte; pairs: [256, 2], what a byte stands for\n"
                     "    return F.embedding(self.codes.int(), self.pairs).view(-1, "
                     "64).mul_(self.scales).view(self.shape)"
                   : "def weight(self):    # codes: torch.int8 [elements / 64, 64]\n"
                     "    return (self.codes * self.scales).view(self.shape)");
    outcome.notes.push_back(
        "one scale for 64 elements, in the type of the weight; kernels of bitsandbytes need no indices "
        "beside the "
        "weight that they restore");
    return outcome;
  }
};

}  // namespace

const Lever& QuantizeLever() {
  static const Quantize lever;
  return lever;
}

}  // namespace vramscope::whatif
