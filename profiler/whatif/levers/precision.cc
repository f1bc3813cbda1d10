// SPDX-License-Identifier: Apache-2.0
// Training in 16 bits alone: parameters, gradients, optimizer state and activations, with no float32 copy.
//
// What stays float32 is what PyTorch keeps so whatever the model's type is (means and deviations of layer and
// batch norms, sums of attention's rows, counts of steps), and what the program converts itself. Integers
// stay.
#include "profiler/whatif/precision/precision.h"

#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/precision/half_only.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/sizes/kept_samples.h"
#include "profiler/whatif/source/type_branches.h"
#include "profiler/whatif/step/forward_parts.h"
#include "profiler/whatif/step/segments.h"
#include "profiler/whatif/step/strides.h"
#include "profiler/whatif/step/windows.h"

namespace vramscope::whatif {
namespace {

using model::kNone;

// Of a program that PyTorch would stop, or that was not understood.
std::string WhyRefused(const Step& changed) {
  const Op& op = changed.ops[changed.refuses];
  const std::string place = InModule(changed, op.begin);
  if (changed.NameOf(op) == "aten::_fused_rms_norm")
    return "rms_norm()" + place +
           " would get float32 beside a weight in 16 bits, for which PyTorch takes other operators than a "
           "recording in float32 shows. Record it in 16 bits.";
  return std::string(changed.NameOf(op)) + place +
         " would get float32 beside 16 bits, which PyTorch refuses: the program stops there, or converts in "
         "a way "
         "that a recording in float32 does not show. Record it in 16 bits.";
}

class Precision final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "precision", "bf16 | fp16", "model, gradients, optimizer state and batch in 16 bits",
        "operators with shapes and types, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  bool ChangesForward() const override { return true; }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    if (value != "bf16" && value != "fp16")
      return Error{"--precision is bf16 or fp16, not \"" + std::string(value) + "\"."};
    if (const auto reason = WhyNotRetyped(step, "training in 16 bits"); !reason.empty()) return Error{reason};
    if (const Result<BatchAxis>& samples = FollowBatch(step); samples.ok())
      if (const auto reason = WhyKeptForSamples(step, *samples); !reason.empty()) return Error{reason};
    const uint8_t type = value == "bf16" ? kBfloat16Type : kHalfType;
    Result<Step> changed =
        KnownBranches(step, WithFilledFlash(InLowWithHalfOnly(step, type, AllInLow)), type);
    if (!changed.ok()) return changed;
    if (const auto reason = WhyOtherNorm(step, *changed); !reason.empty()) return Error{reason};
    if (changed.value().refuses != kNone) return Error{WhyRefused(changed.value())};
    return changed;
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene&) const override {
    const std::string type = value == "bf16" ? "torch.bfloat16" : "torch.float16";
    Outcome outcome;
    TellOtherBranches(step, outcome);
    outcome.code = "model.to(\"cuda\", " + type + ")" +
                   (step.OnlyForward() ? "" : "    # before its optimizer is made") +
                   "\nx = x.to(\"cuda\", " + type + ")    # float inputs";
    if (step.OnlyForward()) return outcome;
    if (value == "fp16") {
      if (!step.half_only.empty())
        outcome.notes.push_back(
            "the program clamps tensors or computes softmax in float32 with float16 alone, in " +
            std::to_string(step.half_only.size()) + " places: taken into account");
      outcome.notes.push_back(
          "what its functions outside of forward do in float16 alone is not in the recording");
    }
    outcome.notes.push_back(value == "bf16"
                                ? "bfloat16 has 8 bits of precision: small updates of weights round away"
                                : "float16 holds up to 65,504, and GradScaler refuses gradients in it");
    return outcome;
  }
};

}  // namespace

namespace {

// torch.func.jvp() and its like hand operators through layers of their own: a product calls itself there.
std::string WhyDifferentiatedForward(const Step& step, std::string_view what) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.parent == kNone || step.ops[op.parent].name != op.name) continue;
    const std::string_view name = step.NameOf(op);
    if (name == "aten::addmm" || name == "aten::mm" || name == "aten::bmm")
      return "forward is differentiated" + InModule(step, op.begin) +
             ", as by torch.func.jvp(): " + std::string(what) + " is not predicted for that.";
  }
  return "";
}

// What a program converts itself is told by the calls of its modules.
std::string WhyModulesUnseen(const Step& step, std::string_view what) {
  if (!step.modules.empty()) return "";
  for (const model::Coverage& hook : step.run->coverage) {
    if (hook.process == step.run->devices[step.device].process && hook.hook == "python.modules" &&
        hook.state == trace::CoverageState::kDisabled)
      return "calls of modules were not seen (" + hook.detail + "): " + std::string(what) +
             " is predicted where they were.";
  }
  return "";
}

}  // namespace

// Batch norm of a tensor that lies neither without gaps nor channels last: cuDNN, which computes it in
// float32, is not asked in 16 bits with weights of that type, and PyTorch's own kernels convert it and reduce
// it dimension by dimension (batch_norm_choose_impl in aten/src/ATen/native/cuda/Normalization.cu).
std::string WhyOtherNorm(const Step& step, const Step& changed) {
  for (const Op& op : step.ops) {
    if (op.node != kNone || op.input_count == 0 || step.NameOf(op) != "aten::batch_norm") continue;
    const Operand& x = InputsOf(step, op)[0];
    if (x.block == kNone || changed.blocks[x.block].requested >= step.blocks[x.block].requested) continue;
    const std::span<const int64_t> sizes = SizesOf(step, x), strides = StridesOf(step, x);
    const bool known = step.shapes[x.strides].known && sizes.size() == strides.size() && sizes.size() > 2;
    if (!known || LiesWithoutGaps(sizes, strides) || LiesChannelsLast(sizes, strides)) continue;
    return "batch norm" + InModule(step, op.begin) +
           " is given a transposed tensor: what PyTorch's kernels for 16 bits take for that is not "
           "predicted. Record it "
           "with x.contiguous() in front.";
  }
  return "";
}

std::string InModule(const Step& step, Position at) {
  const uint32_t call = CallAt(step, at);
  return call == kNone ? "" : " in " + std::string(step.Text(step.modules[call].name));
}

std::string WhyNotRetyped(const Step& step, std::string_view what) {
  if (step.backward.empty() && !step.OnlyForward())
    return "the recorded step has no backward pass; " + std::string(what) +
           " is predicted for steps with one.";
  if (!step.autocast.empty())
    return "the program runs under autocast: --amp and --precision exclude each other.";
  if (!step.OnlyForward() && (step.trained.empty() || step.nodes.empty()))
    return "autograd was not seen: record with its hooks (vramscope info shows which are in place).";
  bool single = false;
  for (const Operand& operand : step.operands) {
    single |= operand.block != kNone && operand.dtype == kFloatType && step.shapes[operand.shape].known;
  }
  if (!single)
    return "no operator of the recorded step works on float32 tensors, or their shapes were not recorded.";
  if (std::string reason = WhyModulesUnseen(step, what); !reason.empty()) return reason;
  if (std::string reason = WhyDifferentiatedForward(step, what); !reason.empty()) return reason;
  if (std::string reason = WhyBackwardInForward(step, what); !reason.empty()) return reason;
  return WhyBackwardIsMore(step);
}

const Lever& PrecisionLever() {
  static const Precision lever;
  return lever;
}

}  // namespace vramscope::whatif
