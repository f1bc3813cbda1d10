// SPDX-License-Identifier: Apache-2.0
// The sequence among the inputs of a step: [batch, tokens] of integers, or [batch, tokens, features].
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "profiler/whatif/step.h"

namespace vramscope::whatif {

struct Tokens {
  int64_t length = 0;
  std::vector<std::pair<uint32_t, uint64_t>> inputs;  // blocks, and elements from one token to the next
  // Of features beside integers, which are as many: they may be another sequence, as patches of a picture
  // that the tokens are about.
  std::vector<std::pair<uint32_t, uint64_t>> beside;
  std::set<int64_t> sizes_of_model;  // dimensions of weights
};

// Fails with a sentence when there is none, or as many samples as tokens.
[[nodiscard]] Result<Tokens> FindTokens(const Step& step);

}  // namespace vramscope::whatif
