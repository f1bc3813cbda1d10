// SPDX-License-Identifier: Apache-2.0
// The workspace that PyTorch allocates for cuBLAS, where a lever puts products of matrices into a step.
//
// To PyTorch 2.11 the first product of a thread makes one that stays; in 2.15 each product takes one and
// gives it back: aten/src/ATen/cuda/CublasHandlePool.cpp.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr uint64_t kCublas = (8192 + 128) << 10;  // of the releases, for devices before Hopper

// What a product of two matrices takes that shows none: as CUBLAS_WORKSPACE_CONFIG has it, ":4096:2:16:8"
// being KiB and how many times these, again and again. Without it, or with another text, the release's own.
[[nodiscard]] uint64_t ConfiguredWorkspace(const Step& step);

struct CublasWorkspace {
  uint64_t bytes = 0;  // 0: products take none, or it is there already
  bool stays = false;  // the first product makes it, for good
};

// What one product of many matrices (aten::bmm) takes, as the products of the step show it; where there are
// none, as the release does it. O(operators).
[[nodiscard]] CublasWorkspace WorkspaceOfProducts(const Step& step);

// Whether the product of batches of columns and rows is made by Triton's kernel, with no workspace
// (torch/_native/ops/bmm_outer_product).
[[nodiscard]] bool TritonMakesOuterProducts(const Step& step);

}  // namespace vramscope::whatif
