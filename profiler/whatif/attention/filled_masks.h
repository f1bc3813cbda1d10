// SPDX-License-Identifier: Apache-2.0
// A mask that autocast converts for memory-efficient attention, whose kernel wants rows of it to begin at
// whole multiples of 8 elements: one that was cut from a wider table lay so, and its copy need not.
//
//   float32    mask [15, 15] of [16, 16]                     rows of 16 elements in memory: taken as it lies
//   16 bits    mask ─ to ─ [15, 15] ─ pad ─ [15, 16]         which autograd keeps
//
// PyTorch: aten/src/ATen/native/transformers/attention.cpp, preprocess_mask and pad_bias<8>.
#pragma once

#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

class FilledMasks {
 public:
  // Both must outlive it.
  FilledMasks(const Step& step, Versions& versions) : step_(step), versions_(versions) {}

  // An operator of forward begins: what is inside of it works on the copy, and its node keeps that.
  void Begin(const Op& op);
  // It ends.
  void End(const Op& op);

 private:
  struct Given {
    uint32_t op, block, version;
  };
  const Step& step_;
  Versions& versions_;
  std::vector<Given> given_;
};

}  // namespace vramscope::whatif
