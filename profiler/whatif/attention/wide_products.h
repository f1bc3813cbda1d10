// SPDX-License-Identifier: Apache-2.0
// Attention that stays products of matrices in 16 bits, since no kernel takes what it is given: PyTorch
// computes them in float32, and hands out what they are in the type of the queries.
//
//   query ─ to(float) ─ mul ─┐
//   key ─── to(float) ─ mul ─┴ matmul ─ add_(mask) ─ softmax ─┬─ to(low)     nobody wants it
//   value ─ to(float) ─────────────────────────────────────── matmul ─ to(low)
//
// In float32 the first three are not called, and the others do nothing. PyTorch:
// _scaled_dot_product_attention_math in aten/src/ATen/native/transformers/attention.cpp.
#pragma once

#include <vector>

#include "profiler/whatif/precision/versions.h"
#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

// Whether `op` is such attention with any type: its queries, keys and values are not of four dimensions, as
// those of windows (check_tensor_shapes in sdp_utils_cpp.h), or of other numbers of samples
// (check_batch_size_and_num_heads_dense), or one of its operands does not lie element by element in its last
// dimension (check_last_dim_stride_equals_1_dense there). So does any with a mask, which flash attention does
// not take (check_for_attn_mask): memory-efficient attention takes no heads in 16 bits that it would not in
// float32 (minimum_gemm_alignment in cuda/sdp_utils.cpp), so that the program forbids it, as by
// sdpa_kernel(SDPBackend.MATH), or the heads keep it away from both.
[[nodiscard]] bool StaysProducts(const Step& step, const Op& op);

class WideProducts {
 public:
  // Both must outlive it.
  WideProducts(const Step& step, uint8_t low, Versions& versions)
      : step_(step), low_(low), versions_(versions) {}

  // An operator of forward begins; whether it converts what it was given.
  bool Begin(const Op& op);
  // It ends.
  void End(const Op& op);

 private:
  struct Given {
    uint32_t block, version, wide;
  };
  const Step& step_;
  const uint8_t low_;
  Versions& versions_;
  std::vector<Given> given_;
};

}  // namespace vramscope::whatif
