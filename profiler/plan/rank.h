// SPDX-License-Identifier: Apache-2.0
// Which of two plans is cheaper: by the time added to a step, then by the depth of the change.
//
// The depths, in ascending order:
//
//   alloc-conf              an environment variable; no line of code, and the same numbers
//   empty-cache             one line in the loop; the same numbers
//   optimizer, same class   one argument (fused, foreach); the same update except for rounding
//   checkpoint              lines in the model; the same numbers, given that its random states are kept
//   accumulate              the loop is rewritten; batch statistics are computed for each part
//   batch                   other gradients: the learning rate must be adapted
//   amp                     other numbers everywhere: overflow, loss scaling
//   optimizer, other class  other training: the number of steps that it needs is unknown, so it comes after
//                           all plans with a known time
//
// A plan is as deep as its deepest lever. If two are equal, the next deepest decides. Each lever's depth is a
// power of two; a plan's depth is the sum.
//
// Example: alloc-conf is 1, checkpoint 8, accumulate 16. Accumulate alone (16) is deeper than alloc-conf and
// checkpoint together (9).
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

struct Rank {
  bool open = false;    // the added time is unknown
  double extra_ns = 0;  // per step
  uint64_t depth = 0;
  size_t modules = 0;  // number of modules that are checkpointed one by one

  friend std::partial_ordering operator<=>(const Rank&, const Rank&) = default;
};

// `extra_ns`: sum of the times that the changes add.
[[nodiscard]] Rank RankOf(const whatif::Step& step, std::span<const whatif::Asked> changes, double extra_ns);

}  // namespace vramscope::plan
