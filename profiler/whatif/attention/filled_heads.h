// SPDX-License-Identifier: Apache-2.0
// Heads whose width is no whole multiple of 8, for flash attention, which 16 bits get in the place of
// memory-efficient attention: the call fills queries, keys and values up, and returns what it makes of them
// without what it filled up. Its node keeps the wider ones, and its backward's gradients are cut.
// PyTorch: aten/src/ATen/native/transformers/attention.cpp, pad_last_dim<8> and post_process_flash_output.
#pragma once

#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Of a head that is that wide, in flash attention.
[[nodiscard]] int64_t FilledWidth(int64_t width);

// Whether `op`, memory-efficient attention of the recorded step or the operator around it, would be given
// heads that were filled up.
[[nodiscard]] bool FillsHeads(const Step& step, const Op& op);

// Whether that may be so of any, also of products.
[[nodiscard]] bool MayFillHeads(const Step& step);

// What the call is given: copies, of the recorded sizes.
class FilledHeads {
 public:
  // Both must outlive it.
  FilledHeads(const Step& step, Versions& versions) : step_(step), versions_(versions) {}

  // An operator of forward begins: what is inside of it works on copies, and its node keeps them.
  void Begin(const Op& op);
  // Its node saves the block, of which the version that it keeps is current now; which one was. Queries, keys
  // and values may be parts of one block, and each is a copy of its own.
  uint32_t Saved(uint32_t block);
  // It ends.
  void End(const Op& op);

 private:
  struct Given {
    uint32_t block, version, copy;
    bool saved = false;
  };
  const Step& step_;
  Versions& versions_;
  std::vector<Given> given_;
};

// Sizes of these copies and of what is returned, and what backward does before and behind the kernel. `low`:
// which blocks of `step` are 16 bits wide in `changed`.
void FillHeads(const Step& step, const std::vector<bool>& low, Step& changed);

// Of a step that a lever made 16 bits: with flash attention in the place of products that were recorded in
// float32 since the width of heads is not even a multiple of 4.
[[nodiscard]] Step WithFilledFlash(Step step);

}  // namespace vramscope::whatif
