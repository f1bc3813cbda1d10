// SPDX-License-Identifier: Apache-2.0
// Another kernel for attention: flash or memory-efficient in the place of products, or products in theirs.
//
// Why behind the levers of precision: flash attention works in 16 bits alone, and these may come from them.
#include "profiler/whatif/attention/attention.h"

#include <algorithm>

#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/scene/lever.h"

namespace vramscope::whatif {
namespace {

using Calls = std::vector<AttentionCall>;

constexpr int64_t kWidthUnit = 8;  // of it, in 16 bits

struct Kernel {
  AttentionKernel kernel;
  const char* value;
  const char* backend;  // of torch.nn.attention.SDPBackend
};
constexpr Kernel kKernels[] = {{AttentionKernel::kFlash, "flash", "FLASH_ATTENTION"},
                               {AttentionKernel::kEfficient, "efficient", "EFFICIENT_ATTENTION"},
                               {AttentionKernel::kMath, "math", "MATH"}};

const Kernel* KernelOf(std::string_view value) {
  const auto* const found = std::find_if(std::begin(kKernels), std::end(kKernels),
                                         [&](const Kernel& k) { return value == k.value; });
  return found == std::end(kKernels) ? nullptr : found;
}

// Whether a convolution is given what the call returns, as it is or copied without gaps.
bool IsConvolved(const Step& step, const AttentionCall& call) {
  std::vector<uint32_t> returned = {call.output};
  const auto is_returned = [&](const Operand& one) {
    return one.block != model::kNone && std::ranges::find(returned, one.block) != returned.end();
  };
  for (uint32_t i = call.last; i < step.ops.size() && call.output != model::kNone; ++i) {
    const Op& op = step.ops[i];
    if (op.begin > step.blocks[returned.back()].end) return false;
    const std::span<const Operand> given = InputsOf(step, op);
    if (op.node != model::kNone || given.empty() || !is_returned(given[0])) continue;
    const std::string_view name = step.NameOf(op);
    if (name == "aten::convolution") return true;
    if (name == "aten::clone" && op.output_count != 0) returned.push_back(OutputsOf(step, op)[0].block);
  }
  return false;
}

// Products return the rows of one head together, kernels the heads of one row.
bool LiesOtherwise(const AttentionCall& call, AttentionKernel kernel) {
  return call.heads > 1 && (call.kernel == AttentionKernel::kMath) != (kernel == AttentionKernel::kMath);
}

std::string WhyNot(const Step& step, const AttentionCall& call, AttentionKernel kernel) {
  if (!call.why_not.empty()) return call.why_not;
  if (LiesOtherwise(call, kernel) && IsConvolved(step, call))
    return "convolutions are given what it returns, which lies otherwise in memory then, and so do they";
  if (kernel == AttentionKernel::kMath && !call.casts)
    return call.Shares() ? "several heads of queries share one of keys and values, which products repeat: "
                           "what they keep of that is not known"
                         : "";
  const bool flash = kernel == AttentionKernel::kFlash;
  if (call.casts)
    return call.kernel == AttentionKernel::kMath
               ? "no kernel takes what it is given, or the program forbids that: products compute it in "
                 "float32"
               : "autocast converts its queries, keys and values, which is known of flash attention alone: "
                 "ask for --precision, or for flash";
  if (flash && call.element != 2)
    return "flash attention works in 16 bits, and its queries are float32, also under --amp where the "
           "program "
           "makes them so: ask for --precision or --amp with it, or for efficient";
  if (flash && !call.masks.empty())
    return "a mask is added to its scores, which flash attention does not take: where it only hides later "
           "tokens, call F.scaled_dot_product_attention(q, k, v, is_causal=True), and record that";
  if (call.width > (flash ? kWidestFlash : kWidestEfficient))
    return "its heads have " + std::to_string(call.width) + " elements, more than is known of this kernel";
  if (call.width % kWidthUnit != 0)
    return "its heads have " + std::to_string(call.width) + " elements, which is not a multiple of 8";
  return "";
}

// What changes.
Result<Calls> Choose(const Step& step, const Kernel& asked) {
  Calls calls = AttentionCalls(step);
  if (calls.empty())
    return Error{
        "no attention was seen: neither F.scaled_dot_product_attention nor a softmax between two products of "
        "matrices. Record with --depth auto."};
  const size_t all = calls.size();
  // Flash attention is what autocast brings, when that is asked for with it.
  const bool converted =
      std::any_of(calls.begin(), calls.end(), [](const AttentionCall& call) { return call.casts; });
  std::erase_if(calls, [&](const AttentionCall& call) {
    return call.kernel == asked.kernel && !call.written_out && !call.retyped;
  });
  if (calls.empty() && converted) return calls;
  if (calls.empty())
    return Error{"attention is computed so already, in all " + std::to_string(all) + " calls."};
  if (asked.kernel == AttentionKernel::kMath &&
      std::all_of(calls.begin(), calls.end(), [](const AttentionCall& call) { return call.written_out; }))
    return Error{"attention is computed by products already, which the program writes out."};
  if (asked.kernel == AttentionKernel::kMath)
    std::erase_if(calls, [](const AttentionCall& call) { return call.written_out; });
  const auto cannot = [](const AttentionCall& call) { return !call.why_not.empty(); };
  for (AttentionCall& call : calls) call.why_not = WhyNot(step, call, asked.kernel);
  const auto first = std::find_if(calls.begin(), calls.end(), cannot);
  if (first == calls.end()) return calls;
  if (std::all_of(calls.begin(), calls.end(), cannot))
    return Error{"no call of attention can be changed: " + first->why_not + "."};
  const auto called = std::find_if(calls.begin(), calls.end(), [&](const AttentionCall& call) {
    return cannot(call) && !call.written_out;  // which sdpa_kernel() would change with the others
  });
  if (called != calls.end())
    return Error{"not all calls of attention can be predicted: " + called->why_not + "."};
  std::erase_if(calls, cannot);
  return calls;
}

class Attention final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "attention", "flash | efficient | math", "another kernel for scaled dot product attention",
        "operators with shapes, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  bool ChangesForward() const override { return true; }

  // Products that are asked for stay, where 16 bits would get another kernel than float32.
  std::optional<Result<Step>> Prepare(const Step& step, std::string_view value) const override {
    const Kernel* const asked = KernelOf(value);
    if (asked == nullptr || asked->kernel != AttentionKernel::kMath || !MayFillHeads(step)) return {};
    Step changed = step;
    changed.keeps_products = true;
    return changed;
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Kernel* const asked = KernelOf(value);
    if (asked == nullptr)
      return Error{"--attention is flash, efficient or math, not \"" + std::string(value) + "\"."};
    if (step.backward.size() > 1)
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes; other attention is predicted for steps with one."};
    const Result<Calls> calls = Choose(step, *asked);
    if (!calls.ok()) return calls.error();
    return WithAttention(step, *calls, asked->kernel);
  }

  Result<Outcome> Apply(const Step& /*step*/, std::string_view value, Scene& /*scene*/) const override {
    const Kernel* const asked = KernelOf(value);
    Outcome outcome;
    outcome.code =
        std::string("with torch.nn.attention.sdpa_kernel(SDPBackend.") + asked->backend +
        "):    # around the model's call\n    y = F.scaled_dot_product_attention(q, k, v)    # in the "
        "place of softmax(q @ k.mT * scale) @ v, where that is written out";
    return outcome;
  }
};

}  // namespace

const Lever& AttentionLever() {
  static const Attention lever;
  return lever;
}

}  // namespace vramscope::whatif
