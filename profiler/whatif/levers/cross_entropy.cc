// SPDX-License-Identifier: Apache-2.0
// Cross-entropy over parts of the rows: logits are never there as a whole.
#include "profiler/whatif/training/cross_entropy.h"

#include <bit>
#include <charconv>

namespace vramscope::whatif {
namespace {

constexpr std::string_view kChunked = "chunked:";

// Parts; 0 = as many as Liger takes.
Result<int64_t> ParseParts(std::string_view value) {
  if (value == "fused") return 0;
  int64_t parts = 0;
  const char* const end = value.data() + value.size();
  if (value.starts_with(kChunked)) {
    const auto [behind, failed] = std::from_chars(value.data() + kChunked.size(), end, parts);
    if (failed == std::errc() && behind == end && parts > 1) return parts;
  }
  return Error{"--cross-entropy is fused, or chunked with a number of parts as in chunked:8, not \"" +
               std::string(value) + "\"."};
}

int64_t RowsOf(const LinearLoss& loss, int64_t parts) {
  const auto up = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  if (parts != 0) return up(loss.rows, parts);
  // Liger: a part's logits are as large as what goes into the layer, in a power of two of rows.
  const int64_t rows = up(loss.rows, up(loss.vocabulary, loss.width));
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(rows)));
}

class CrossEntropy final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "cross-entropy", "fused | chunked:K", "the loss over parts of the rows, without logits as a whole",
        "operators with shapes, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<int64_t> parts = ParseParts(value);
    if (!parts.ok()) return parts.error();
    if (step.backward.size() != 1)
      return Error{"the recorded step has " + std::to_string(step.backward.size()) +
                   " backward passes; another loss is predicted for steps with one."};
    if (!step.autocast.empty())
      return Error{"the loss is computed under autocast, whose casts a loss of one's own decides about."};
    const Result<LinearLoss> loss = FindLinearLoss(step);
    if (!loss.ok()) return loss.error();
    for (const StepBlock& block : step.blocks) {
      if (block.copy_of == loss->weight && block.id == model::kNone)
        return Error{
            "beside --amp, the types of a loss of one's own are its author's to say: ask for "
            "--precision, or without."};
    }
    return WithLossInParts(step, *loss, RowsOf(*loss, *parts));
  }

  Result<Outcome> Apply(const Step& /*step*/, std::string_view value, Scene& /*scene*/) const override {
    Outcome outcome;
    outcome.code =
        "class Loss(torch.autograd.Function):    # hidden [rows, width]; the model without its last layer\n"
        "    def forward(ctx, hidden, weight, bias, labels):\n"
        "        for part, target in zip(hidden.split(rows), labels.split(rows)):\n"
        "            logits = F.linear(part, weight, bias)\n"
        "            gradient = logits.softmax(-1, dtype=torch.float32)    # less 1 at the labels\n"
        "            # add to the loss; gradient @ weight, gradient.T @ part: kept for backward";
    if (value == "fused")
      outcome.code =
          "loss = liger_kernel.transformers.LigerFusedLinearCrossEntropyLoss()(weight, hidden, "
          "labels, bias)\n# or, in torch alone:\n" +
          outcome.code;
    outcome.notes.emplace_back(
        "as torch alone does it, logits and their gradient beside each other; a kernel that writes one over "
        "the other needs less");
    if (value == "fused")
      outcome.notes.emplace_back("parts are those of the recorded batch, also beside another batch");
    return outcome;
  }
};

}  // namespace

const Lever& CrossEntropyLever() {
  static const CrossEntropy lever;
  return lever;
}

}  // namespace vramscope::whatif
