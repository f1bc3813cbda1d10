// SPDX-License-Identifier: Apache-2.0
// Where backward of a linear layer begins, and where the gradient of its input is added to others.
//
// What is put in beside a layer runs before it in backward, so its gradient of the input reaches the engine
// first:
//
//   alone                     put in: g1          layer: g2, g1 + g2 is a new block (in place where g1 is
//                                                        nobody's view)
//   behind another consumer   b, put in: b + g1   layer: g2 is added to that in place
#pragma once

#include <string_view>
#include <vector>

#include "profiler/whatif/step/insert.h"
#include "profiler/whatif/training/linears.h"

namespace vramscope::whatif {

// In recorded positions.
struct GradientPlace {
  Position begin = kForever;        // of the first node of the layer that backward runs
  Position sum_end = kForever;      // the end of the node that hands on the input's gradient
  Operand gradient;                 // of the output, as that node is given it
  uint32_t operand = model::kNone;  // into Step::operands: the same, which has another block once sums move
  uint32_t sum = model::kNone;  // the input's gradient as this layer computes it: block; kNone: not asked for
  uint32_t node = model::kNone;  // that hands it on
};
// By layer.
[[nodiscard]] std::vector<GradientPlace> GradientPlacesOf(const Step& step,
                                                          const std::vector<LinearCall>& linears);

// The engine adds up `first`, what was put in computed at `room`, and what the layer and others do.
void SumGradients(const LinearCall& linear, const GradientPlace& place, uint32_t first, Inserter& into,
                  Room& room);

// A gradient that was put in goes when that of the layer's weight does, as the one that is so many turns
// behind it, or with the last ones: in this step, or in the next one.
void KeepAsOthers(uint32_t gradient, std::string_view weight, int turn, Inserter& into);

}  // namespace vramscope::whatif
