// SPDX-License-Identifier: Apache-2.0
// Hidden widths of a model: dimensions that linear layers make and other linear layers take up again, such as
// the inner width of an MLP or the heads of attention, and a recorded step with less of them.
//
//   x ─ wide ─▶ h [tokens, W] ─ gelu ─▶ a [tokens, W] ─ narrow ─▶ y      W is hidden: nothing else sees it
//   x ─ q, k, v ─▶ [tokens, heads x d] ─ attention ─▶ ... ─ out ─▶ y     heads are
//   x ─ linear ─▶ y ─ x + y ...                                          is not: the sum is as wide as x
//
// Why by what flows and not by shape: an inner width may be that of the model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"
#include "profiler/whatif/training/linears.h"

namespace vramscope::whatif {

struct HiddenWidth {
  std::vector<uint32_t> makers, takers;  // into HiddenWidths::linears
  int64_t units = 0;                     // heads, or elements of the width
  bool heads = false;
  std::vector<uint32_t> blocks;  // of forward, that have the width
  std::vector<uint32_t> ops;     // of forward, between makers and takers
};

struct HiddenWidths {
  std::vector<LinearCall> linears;  // all of the model
  std::vector<HiddenWidth> widths;  // in order of their first maker
};
// Why none can be told of this step, as a sentence; "" when they can.
[[nodiscard]] std::string WhyNoHiddenWidths(const Step& step);
// Of layers that `patterns` names, or of the model's blocks where it is empty: all of a width's makers are.
[[nodiscard]] HiddenWidths HiddenWidthsOf(const Step& step, std::string_view patterns);

// What is left of a width.
struct Share {
  uint64_t kept = 1, of = 1;
};
// Parameters, gradients, state and activations of the i-th width are as large as shares[i] of them.
[[nodiscard]] Step Narrowed(const Step& step, const HiddenWidths& hidden, const std::vector<Share>& shares);

}  // namespace vramscope::whatif
