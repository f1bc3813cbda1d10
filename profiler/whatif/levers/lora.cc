// SPDX-License-Identifier: Apache-2.0
// LoRA: linear layers are frozen, and beside each of them two matrices of a small rank are trained.
#include "profiler/whatif/training/lora.h"

#include <charconv>
#include <set>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/training/lora_gradients.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

constexpr uint32_t kMostRank = 1 << 16;

struct LoraQuestion {
  uint32_t rank = 0;
  std::string_view patterns;
};

Result<LoraQuestion> ParseLora(std::string_view value) {
  const Error error{"--lora is a rank, as in 8, or 8:'layers.*.mlp' for modules, not \"" +
                    std::string(value) + "\"."};
  LoraQuestion question;
  const char* const end = value.data() + value.size();
  const auto [behind, failed] = std::from_chars(value.data(), end, question.rank);
  if (failed != std::errc() || question.rank == 0 || question.rank > kMostRank) return error;
  if (behind == end) return question;
  if (*behind != ':' || behind + 1 == end) return error;
  question.patterns = {behind + 1, static_cast<size_t>(end - behind - 1)};
  return question;
}

class Lora final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "lora", "RANK[:PATHS]", "linear layers are frozen, and two small matrices beside each are trained",
        "modules, labels of parameters, operators, autograd's nodes and what they keep (a deep step)"};
    return kInfo;
  }

  bool OnRequest() const override { return true; }
  std::vector<std::string> Settings(const Step&) const override { return {"16", "8"}; }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<LoraQuestion> question = ParseLora(value);
    if (!question.ok()) return question.error();
    if (step.backward.size() != 1 || step.optimizer.size() != 1) {
      return Error{"the recorded step has " + std::to_string(step.backward.size()) + " backward passes and " +
                   std::to_string(step.optimizer.size()) +
                   " optimizer steps; LoRA is predicted for one of each."};
    }
    if (!step.autocast.empty())
      return Error{
          "the program runs under autocast: record it without, and ask for --lora and --amp together."};
    if (step.trained.empty() || step.nodes.empty())
      return Error{"autograd was not seen: record with its hooks (vramscope info shows which are in place)."};
    if (std::string why = WhyFlatWeights(step); !why.empty()) return Error{why};  // which would be frozen
    if (step.modules.empty())
      return Error{"calls of modules were not recorded: record a Python program with --depth auto."};
    std::vector<std::string> shared;
    const std::vector<LinearCall> linears = LinearCalls(step, question->patterns, &shared);
    if (linears.empty()) {
      return Error{"no linear layer was found " +
                   (question->patterns.empty() ? std::string("in the model's blocks")
                                               : "in " + std::string(question->patterns)) +
                   (shared.empty() ? "." : ": the weight of " + shared.front() + " is used elsewhere too.")};
    }
    std::set<std::string_view> paths;
    for (const LinearCall& linear : linears) {
      if (!paths.insert(linear.path).second)
        return Error{std::string(linear.path) +
                     " is called several times a step; LoRA is predicted for layers that are called once."};
    }
    const std::vector<GradientPlace> places = GradientPlacesOf(step, linears);
    for (size_t i = 0; i < places.size(); ++i) {
      const bool told = places[i].gradient.block != model::kNone || linears[i].output == model::kNone;
      if (places[i].begin >= kForever || !told)
        return Error{
            "backward did not run through all of these layers: record the program without frozen ones."};
    }
    return WithLora(step, linears, UncalledLinears(step, linears, question->patterns), question->rank);
  }

  Result<Outcome> Apply(const Step& step, std::string_view, Scene&) const override {
    uint64_t bytes = 0;
    for (const uint32_t parameter : step.trained) bytes += step.blocks[parameter].requested;
    Outcome outcome;
    outcome.code =
        "class Lora(nn.Module):\n"
        "    def __init__(self, base, rank):\n"
        "        super().__init__()\n"
        "        self.base = base\n"
        "        self.down = nn.Linear(base.in_features, rank, bias=False)\n"
        "        self.up = nn.Linear(rank, base.out_features, bias=False)\n"
        "        nn.init.zeros_(self.up.weight)\n"
        "    def forward(self, x): return self.base(x) + self.up(self.down(x))\n"
        "# each of these layers becomes Lora(layer, rank); only down and up have requires_grad, before the\n"
        "# optimizer is made";
    outcome.notes.push_back(std::to_string(step.trained.size()) + " matrices are trained, " +
                            std::to_string(bytes >> 10) + " KiB; everything else is frozen");
    return outcome;
  }
};

}  // namespace

const Lever& LoraLever() {
  static const Lora lever;
  return lever;
}

}  // namespace vramscope::whatif
