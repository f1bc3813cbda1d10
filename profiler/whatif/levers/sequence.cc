// SPDX-License-Identifier: Apache-2.0
// Another length of the sequences: what the tokens reach grows or shrinks with them, attention's scores in
// both directions.
#include "profiler/whatif/sizes/sequence.h"

#include <cstdlib>

#include "profiler/whatif/precision/asked_values.h"
#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/sizes/counted_places.h"
#include "profiler/whatif/sizes/held_places.h"
#include "profiler/whatif/sizes/token_loops.h"
#include "profiler/whatif/sizes/tokens.h"
#include "profiler/whatif/step/amount.h"

namespace vramscope::whatif {
namespace {

// Of sequences of other lengths, as what an encoder-decoder writes, the first reason against as many more.
std::string WhyNoTargets(const Step& step, const BatchAxis& axis, std::string_view value, int64_t wanted) {
  const Result<Tokens> tokens = FindTokens(step);
  if (!tokens.ok()) return "";
  for (const int64_t target : tokens->target_lengths) {
    if (!value.ends_with('x') && std::abs(target - tokens->length) > kMoved)
      return "the step has sequences of " + std::to_string(axis.batch) + " and of " + std::to_string(target) +
             " tokens, and one number does not tell how long both become: ask for a factor, as 2x.";
    const int64_t longer = tokens->TargetAt(target, wanted);
    if (longer < 2) return "--sequence needs 2 tokens or more.";
    BatchAxis of_target = axis;
    of_target.batch = target;
    if (std::string why = WhyTooLong(step, of_target, longer); !why.empty()) return why;
    if (std::string why = WhyUnknownTables(step, of_target); !why.empty()) return why;
  }
  return "";
}

// Of the program's other inputs: what becomes longer with the tokens, and what does not.
void NoteOtherInputs(const Step& step, std::vector<std::string>& notes) {
  const Result<Tokens> tokens = FindTokens(step);
  if (!tokens.ok()) return;
  if (!tokens->targets.empty())
    notes.emplace_back("what the decoder is to write is taken to become longer by the same factor");
  if (!tokens->other_lengths.empty())
    notes.emplace_back(
        "inputs of another length than the tokens' stay as they are, as spectra or patches that words are "
        "about");
}

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
    if (const std::string why = WhyPlacesAreHeld(step, *axis); !why.empty()) return Error{why};
    if (const std::string why = WhyOneByOne(step, *axis); !why.empty()) return Error{why};
    if (const std::string why = WhyUnknownTables(step, *axis); !why.empty()) return Error{why};
    if (const std::string why = WhyRoomUnknown(step, *axis, Counted::kAtAll); !why.empty()) return Error{why};
    if (const std::string why = WhyNoTargets(step, *axis, value, *wanted); !why.empty()) return Error{why};
    return AtLength(step, *axis, *wanted);
  }

  Result<Outcome> Apply(const Step& step, std::string_view value, Scene& /*scene*/) const override {
    Outcome outcome;
    const std::string tokens = value.ends_with('x') ? "N" : std::string(value);
    outcome.code =
        "ids = ids[:, :" + tokens + "]    # or batches that are made with so many tokens in a sample";
    outcome.notes.emplace_back(
        "a table of positions stays as long as it is; kernels are taken to be those of the recorded length");
    NoteOtherInputs(step, outcome.notes);
    return outcome;
  }
};

}  // namespace

const Lever& SequenceLever() {
  static const Sequence lever;
  return lever;
}

}  // namespace vramscope::whatif
