// SPDX-License-Identifier: Apache-2.0
// Programs that go through their tokens one by one, as recurrent networks written in Python do: how often
// such a loop runs is the length of the sequence.
//
//   for t in range(tokens):  state = gate[:, t] * state + x[:, t]
//
//   recorded    0 │ 1 │ 2 │ 3 │ ... │ 7     forward     7 │ ... │ 3 │ 2 │ 1 │ 0     backward
//   4 tokens    0             │ 5, 6, 7                 7, 6, 5 │             0
//
// Why rounds in the middle are left out: what the first one finds and the last one leaves stays as it was.
#pragma once

#include <string>
#include <vector>

#include "profiler/whatif/sizes/batch_axis.h"

namespace vramscope::whatif {

// One loop of forward.
struct TokenLoop {
  uint32_t block = model::kNone;  // that it goes through
  std::vector<Position> rounds;   // where each begins
  Position end = 0;               // of the last
};

// In order. `axis` is the step's FollowSequence. O(operands).
[[nodiscard]] std::vector<TokenLoop> FindTokenLoops(const Step& step, const BatchAxis& axis);

// Why another length cannot be told of a program that calls a module for each of its tokens and is no such
// loop, as one sentence: how often it does so then, and what each call finds and leaves, one length does not
// tell. "" when it calls none so. O(calls of modules).
[[nodiscard]] std::string WhyOneByOne(const Step& step, const BatchAxis& axis);

// The loop with another number of rounds: the first and the last one are there always. Fewer: what is left
// out has no bytes and is kept by no node. More: what outlives the round behind its own, of forward or of
// backward, is there so much more often, in pieces. O(blocks + operands).
void SetRounds(const TokenLoop& loop, int64_t rounds, Step& step);

}  // namespace vramscope::whatif
