// SPDX-License-Identifier: Apache-2.0
// Determines which of two plans is cheaper. The first criterion is the time that a plan adds to a step. The
// second criterion is the depth of a plan: how deeply the plan changes the training program.
//
// The levers, from the smallest to the deepest change. "Same numbers" means that training computes the same
// values.
//
//   alloc-conf              an environment variable, no line of code; same numbers
//   empty-cache             one line in the training loop; same numbers
//   optimizer, same class   one argument (fused, foreach); same update except for rounding
//   checkpoint              lines in the model; same numbers if random states are preserved
//   accumulate              a rewritten training loop; batch statistics are computed per micro-batch
//   batch                   other gradients, so the learning rate must be adapted
//   amp                     other numbers everywhere; overflow and loss scaling must be considered
//   optimizer, other class  another training that needs an unknown number of steps, so
//                           such a plan comes after all plans with a known time
//
// The depth of a plan is that of its deepest lever. If the deepest levers of two plans are equal, the next
// deepest levers decide. To compute this, each lever's depth is a power of two, and a plan's depth is the
// sum.
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
  double extra_ns = 0;  // nanoseconds that the plan adds to a step
  uint64_t depth = 0;
  size_t modules = 0;  // number of modules that are checkpointed one by one

  friend std::partial_ordering operator<=>(const Rank&, const Rank&) = default;
};

// `extra_ns` is the sum of the times that the changes add to a step, in nanoseconds.
[[nodiscard]] Rank RankOf(const whatif::Step& step, std::span<const whatif::Asked> changes, double extra_ns);

}  // namespace vramscope::plan
