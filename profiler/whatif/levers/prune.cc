// SPDX-License-Identifier: Apache-2.0
// Structured pruning: hidden widths of a model lose a part of their elements, or of their heads, before
// training.
#include <charconv>
#include <cmath>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/training/narrow.h"
#include "profiler/whatif/training/parameters.h"

namespace vramscope::whatif {
namespace {

struct PruneQuestion {
  double fraction = 0;
  std::string_view patterns;
};

Result<PruneQuestion> ParsePrune(std::string_view value) {
  const Error error{"--prune is the part that goes, as in 0.25, or 0.25:'layers.*.mlp' for modules, not \"" +
                    std::string(value) + "\"."};
  PruneQuestion question;
  const char* const end = value.data() + value.size();
  const auto [behind, failed] = std::from_chars(value.data(), end, question.fraction);
  if (failed != std::errc() || !(question.fraction > 0) || question.fraction >= 1) return error;
  if (behind == end) return question;
  if (*behind != ':' || behind + 1 == end) return error;
  question.patterns = {behind + 1, static_cast<size_t>(end - behind - 1)};
  return question;
}

std::vector<Share> SharesOf(const HiddenWidths& hidden, double fraction) {
  std::vector<Share> shares;
  for (const HiddenWidth& width : hidden.widths) {
    const auto of = static_cast<uint64_t>(width.units);
    shares.push_back({of - static_cast<uint64_t>(std::floor(static_cast<double>(of) * fraction)), of});
  }
  return shares;
}

class Prune final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {
        "prune", "FRACTION[:PATHS]", "inner widths of MLPs and heads of attention lose this part",
        "modules, labels of parameters, operators with shapes, autograd's nodes (a deep step)"};
    return kInfo;
  }

  bool OnRequest() const override { return true; }
  std::vector<std::string> Settings(const Step&) const override { return {"0.25", "0.5"}; }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<PruneQuestion> question = ParsePrune(value);
    if (!question.ok()) return question.error();
    if (const auto reason = WhyNoHiddenWidths(step); !reason.empty()) return Error{reason};
    const HiddenWidths hidden = HiddenWidthsOf(step, question->patterns);
    if (hidden.widths.empty())
      return Error{"no width was found that linear layers" +
                   (question->patterns.empty() ? std::string() : " in " + std::string(question->patterns)) +
                   " make and others take up, and that nothing else sees: which part could go is not clear."};
    const std::vector<Share> shares = SharesOf(hidden, question->fraction);
    if (std::all_of(shares.begin(), shares.end(), [](const Share& share) { return share.kept == share.of; }))
      return Error{"that is less than one head: nothing goes."};
    return Narrowed(step, hidden, shares);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene&) const override {
    const Result<PruneQuestion> question = ParsePrune(value);
    if (!question.ok()) return question.error();
    const HiddenWidths hidden = HiddenWidthsOf(step, question->patterns);
    Outcome outcome;
    std::string lines;
    const std::vector<Share> shares = SharesOf(hidden, question->fraction);
    for (size_t i = 0; i < hidden.widths.size(); ++i) {
      const HiddenWidth& width = hidden.widths[i];
      lines += (i == 0 ? "# " : "\n# ") + std::string(hidden.linears[width.makers.front()].path);
      if (width.makers.size() > 1) lines += " and " + std::to_string(width.makers.size() - 1) + " more";
      lines += " to " + std::string(hidden.linears[width.takers.front()].path) + ": " +
               std::to_string(shares[i].kept) + " of " + std::to_string(shares[i].of) +
               (width.heads ? " heads" : " elements");
    }
    outcome.code =
        "layer.weight = nn.Parameter(layer.weight[kept])          # and its bias: of a layer that makes the "
        "width\n"
        "layer.weight = nn.Parameter(layer.weight[:, kept])       # of one that takes it up; before the "
        "optimizer "
        "is made\n" +
        lines;
    outcome.notes.push_back("what the model has learned in the part that goes is lost");
    return outcome;
  }
};

}  // namespace

const Lever& PruneLever() {
  static const Prune lever;
  return lever;
}

}  // namespace vramscope::whatif
