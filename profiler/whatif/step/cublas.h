// SPDX-License-Identifier: Apache-2.0
// The workspace that PyTorch allocates for cuBLAS. Levers that add matrix products to a step need it.
//
// Up to PyTorch 2.11, the first product of a thread allocates a workspace that stays. In 2.15, each product
// allocates one and frees it: aten/src/ATen/cuda/CublasHandlePool.cpp.
#pragma once

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr uint64_t kCublas = (8192 + 128) << 10;  // the releases' size for devices before Hopper

// The workspace of a matrix product if the step shows none. CUBLAS_WORKSPACE_CONFIG sets it as pairs of KiB
// and count, ":4096:2:16:8". Without such a pair, the release's default applies.
[[nodiscard]] uint64_t ConfiguredWorkspace(const Step& step);

struct CublasWorkspace {
  uint64_t bytes = 0;  // 0: products take none, or the workspace exists already
  bool stays = false;  // the first product allocates it, and it stays
};

// The workspace of one batched product (aten::bmm), as the step's products show it. If there are no products,
// as the release does it. O(operators).
[[nodiscard]] CublasWorkspace WorkspaceOfProducts(const Step& step);

// True if Triton's kernel computes batched outer products, without a workspace
// (torch/_native/ops/bmm_outer_product).
[[nodiscard]] bool TritonMakesOuterProducts(const Step& step);

}  // namespace vramscope::whatif
