// SPDX-License-Identifier: Apache-2.0
// The sequence among the inputs of a step: [batch, tokens] of integers, or [batch, tokens, features].
#pragma once

#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// So many tokens more or less are the same sequence, moved by one for what comes next or what was before.
inline constexpr int64_t kMoved = 2;

struct Tokens {
  int64_t length = 0;
  std::vector<std::pair<uint32_t, uint64_t>> inputs;  // blocks, and elements from one token to the next
  // Of features beside integers, which are as many: they may be another sequence, as patches of a picture
  // that the tokens are about.
  std::vector<std::pair<uint32_t, uint64_t>> beside;
  // Numbers of each token in floating point, as a mask is: [samples, tokens]. As many features would be a
  // dimension of weights.
  std::vector<std::pair<uint32_t, uint64_t>> values;
  // Of ids of other lengths, as what an encoder-decoder is to write: they become longer by the same factor.
  std::vector<std::pair<uint32_t, uint64_t>> targets;
  std::set<int64_t> target_lengths;
  std::set<int64_t> other_lengths;   // of inputs that stay as they are, as the spectra that words are about
  std::set<int64_t> sizes_of_model;  // dimensions of weights

  [[nodiscard]] std::set<int64_t> Lengths() const {
    std::set<int64_t> all = target_lengths;
    all.insert(length);
    return all;
  }
  [[nodiscard]] bool IsLength(int64_t size) const { return size == length || target_lengths.contains(size); }
  // Of a target that has so many, with so many tokens instead of `length`.
  [[nodiscard]] int64_t TargetAt(int64_t target, int64_t tokens) const {
    if (std::abs(target - length) <= kMoved) return tokens + target - length;
    return (target * tokens + length / 2) / length;
  }
};

// Fails with a sentence when there is none, or as many samples as tokens.
[[nodiscard]] Result<Tokens> FindTokens(const Step& step);

}  // namespace vramscope::whatif
