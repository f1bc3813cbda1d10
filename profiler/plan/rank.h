// SPDX-License-Identifier: Apache-2.0
// Which of two plans is cheaper: by the time that a step takes longer, then by how deep the change goes.
//
// The order of depth, and why:
//
//   alloc-conf              an environment variable; no line of code, and the same numbers
//   empty-cache             one line in the loop; the same numbers
//   optimizer, its own way  one argument; the same update but for rounding
//   checkpoint              lines in the model; the same numbers, given that its random states are kept
//   accumulate              the loop is written anew; batch statistics are those of the parts
//   batch                   other gradients: the learning rate goes with it
//   amp                     other numbers everywhere: overflow, loss scaling
//   optimizer, another one  other training: how many steps it needs is not known, so it comes behind all
//                           plans whose time is
//
// A plan is as deep as its deepest lever; among equals the next deepest decides. So each lever has a power of
// two, and a plan their sum.
#pragma once

#include <compare>
#include <cstdint>
#include <span>

#include "profiler/whatif/answer/predict.h"

namespace vramscope::plan {

struct Rank {
  bool open = false;    // no time can be told
  double extra_ns = 0;  // a step
  uint64_t depth = 0;
  size_t modules = 0;  // that are checkpointed one by one

  friend std::partial_ordering operator<=>(const Rank&, const Rank&) = default;
};

// Of changes to a program with this recorded step. `extra_ns` is what their outcomes say together.
[[nodiscard]] Rank RankOf(const whatif::Step& step, std::span<const whatif::Asked> changes, double extra_ns);

}  // namespace vramscope::plan
