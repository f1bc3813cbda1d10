// SPDX-License-Identifier: Apache-2.0
// Another length of the sequences: what the tokens reach grows or shrinks with them, attention's scores in
// both directions.
#include "profiler/whatif/amount.h"
#include "profiler/whatif/asked_values.h"
#include "profiler/whatif/lever.h"
#include "profiler/whatif/sequence.h"

namespace vramscope::whatif {
namespace {

class Sequence final : public Lever {
 public:
  const LeverInfo& info() const override {
    static constexpr LeverInfo kInfo = {"sequence", "N | FACTORx", "another number of tokens in a sample",
                                        "operators with shapes and strides (a deep step), and inputs [batch, "
                                        "tokens] or [batch, tokens, features]"};
    return kInfo;
  }

  std::optional<Result<Step>> Rewrite(const Step& step, std::string_view value) const override {
    const Result<BatchAxis> axis = FollowSequence(step);
    if (!axis.ok()) return axis.error();
    const Result<int64_t> wanted = ParseAmount("sequence", "tokens", value, axis->batch);
    if (!wanted.ok()) return wanted.error();
    if (*wanted < 2) return Error{"--sequence needs 2 tokens or more."};
    if (const std::string why = WhyTooLong(step, *axis, *wanted); !why.empty()) return Error{why};
    if (const std::string why = WhyOtherMasks(step, axis->batch, *wanted); !why.empty()) return Error{why};
    if (const std::string why = WhyGoneOnByValues(step); !why.empty()) return Error{why};
    if (const std::string why = WhyInPieces(step, *axis, *wanted); !why.empty()) return Error{why};
    if (const std::string why = WhyUnknownTables(step, *axis); !why.empty()) return Error{why};
    return AtLength(step, *axis, *wanted);
  }

  Result<Outcome> Apply(const Step& /*step*/, std::string_view value, Scene& /*scene*/) const override {
    Outcome outcome;
    const std::string tokens = value.ends_with('x') ? "N" : std::string(value);
    outcome.code =
        "ids = ids[:, :" + tokens + "]    # or batches that are made with so many tokens in a sample";
    outcome.notes.emplace_back(
        "a table of positions stays as long as it is; kernels are taken to be those of the recorded length");
    return outcome;
  }
};

}  // namespace

const Lever& SequenceLever() {
  static const Sequence lever;
  return lever;
}

}  // namespace vramscope::whatif
