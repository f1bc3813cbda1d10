// SPDX-License-Identifier: Apache-2.0
// Where flash attention, which 16 bits get instead of memory-efficient attention, leaves its result.
#pragma once

#include <map>

#include "profiler/whatif/attention/filled_heads.h"
#include "profiler/whatif/attention/filled_masks.h"
#include "profiler/whatif/attention/wide_products.h"
#include "profiler/whatif/precision/layouts.h"
#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether `op` puts the heads of what attention returned, or of a gradient of its, beside each other.
[[nodiscard]] bool JoinsHeads(const Step& step, const Op& op);

// Memory-efficient attention returns [batch, rows, heads, width] without gaps. Flash attention makes its
// result like the queries: of those that were copied together as [batch, heads, rows, width], what puts heads
// beside each other again (reshape, or contiguous before a view) has to copy.
// aten/src/ATen/native/transformers/cuda/ flash_attn/flash_api.cpp: mha_fwd, empty_like(q).
// So has what was filled up: its heads have gaps between them (filled_heads.h). And so has a function that
// calls attention and returns what it got rows first, whatever its caller does with that then.
class HeadsFirst {
 public:
  // Both must outlive it.
  HeadsFirst(const Step& step, uint8_t low, Versions& versions)
      : step_(step),
        low_(low),
        versions_(versions),
        filled_(step, versions),
        masks_(step, versions),
        products_(step, low, versions),
        layouts_(step, versions) {}

  // An operator of forward begins: one that puts heads beside each other copies what attention returned.
  // Whether what is inside it works on what it has converted to float32.
  bool Begin(const Op& op);
  // The current version of a block has been made of that one, of the tensor `from`.
  void Copied(const Operand& from, uint32_t before) { layouts_.Copied(from, before); }
  // A node saves the block, of which the version that it keeps is current now; which one was.
  uint32_t Saved(uint32_t block) { return filled_.Saved(block); }
  // It ends, and works still on the versions that it was shown.
  void Computed(const Op& op) { layouts_.Computed(op); }
  // It ends: it may be attention that returns its result so, or the function's transpose of that.
  void End(const Op& op);

 private:
  [[nodiscard]] bool ReturnsRows(const Op& op) const;
  void Copy(const Operand& attended, Position at);

  const Step& step_;
  const uint8_t low_;
  Versions& versions_;
  FilledHeads filled_;
  FilledMasks masks_;
  WideProducts products_;
  Layouts layouts_;
  std::map<uint32_t, Position> left_;  // by what attention returned: when the function does that called it
};

}  // namespace vramscope::whatif
