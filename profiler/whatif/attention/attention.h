// SPDX-License-Identifier: Apache-2.0
// Scaled dot product attention of a recorded step, and the step with another kernel for it.
//
// Why calls and not operators: what a kernel keeps and needs is known as a whole. All that a call made goes,
// forward and backward, and what the other kernel makes is put in its place:
//
//   products    scaled q, scaled k, scores [rows, columns], weights [rows, columns] ... ─▶ output
//   a kernel    one number for each row ─▶ output       backward computes the scores again, in registers
//
// PyTorch: sdp_utils.cpp, attention.cu, attention_backward.cu, flash_attn/flash_api.cpp and
// mem_eff_attention/kernel_backward.h; sizes as torch 2.15 asks for them on an A100.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

inline constexpr std::string_view kMathAttention = "aten::_scaled_dot_product_attention_math";
inline constexpr std::string_view kEfficientCall = "aten::_scaled_dot_product_efficient_attention";
inline constexpr std::string_view kEfficientForward = "aten::_efficient_attention_forward";
inline constexpr std::string_view kEfficientBackward = "aten::_efficient_attention_backward";
inline constexpr uint64_t kMaskUnit = 8;  // elements that a row of an added mask is aligned to
inline constexpr uint64_t kSeedBytes = 8, kSeedsBytes = 16;  // bytes: of dropout, kept without it too

enum class AttentionKernel : uint8_t { kMath, kEfficient, kFlash, kOther };

struct AttentionCall {
  AttentionKernel kernel = AttentionKernel::kMath;
  bool written_out = false;         // matmul, softmax, matmul of the program's own
  bool dropout = false;             // as far as it can be seen
  bool causal = false;              // without a mask: it is told so
  uint32_t first = 0, last = 0;     // operators of forward that are it: [first, last)
  Window forward;                   // their time
  std::vector<uint32_t> nodes;      // of autograd, made in it
  Window backward;                  // of these nodes; empty where none ran
  Operand query, key, value;        // [batch, heads, rows, width], or without heads
  Operand given;                    // the gradient that the last of them is given; no block: not recorded
  std::vector<uint32_t> masks;      // blocks that are added to the scores, or hide some of them
  uint64_t bools = 0;               // elements of a mask of bools: one to be added is made of it
  bool bools_of_each = false;       // sample: the mask is not one for all
  uint32_t output = model::kNone;   // block
  std::vector<uint32_t> gradients;  // blocks that its backward hands out
  int64_t batch = 1, heads = 1, rows = 0, columns = 0, width = 0;
  int64_t key_heads = 1;  // of keys and values: fewer, where several heads of queries share one
  uint64_t element = 0;   // bytes
  bool retyped = false;   // a lever made it 16 bits: which kernel it is then is not in its name
  bool casts = false;     // autocast, put in by a lever, converts what it is given
  std::string why_not;    // it cannot be exchanged, because ...; "" = it can

  [[nodiscard]] uint64_t Heads() const { return static_cast<uint64_t>(batch * heads); }
  [[nodiscard]] uint64_t QueryBytes() const {
    return Heads() * static_cast<uint64_t>(rows * width) * element;
  }
  [[nodiscard]] uint64_t KeyBytes() const {
    return static_cast<uint64_t>(batch * key_heads * columns * width) * element;
  }
  [[nodiscard]] bool Shares() const { return key_heads != heads; }
  // Of keys, or of values, with one for each head of queries.
  [[nodiscard]] uint64_t SpreadKeyBytes() const {
    return Heads() * static_cast<uint64_t>(columns * width) * element;
  }
  [[nodiscard]] uint64_t Scores() const { return Heads() * static_cast<uint64_t>(rows * columns); }
};

// Of forward, in order. A softmax between two products that is none of attention is not among them.
[[nodiscard]] std::vector<AttentionCall> AttentionCalls(const Step& step);

// These calls with that kernel: each one can be exchanged.
[[nodiscard]] Step WithAttention(const Step& step, const std::vector<AttentionCall>& calls,
                                 AttentionKernel kernel);

// Bytes beside results and gradients.
struct FlashNeeds {
  uint64_t split_sums = 0, split_outputs = 0;  // forward, where rows are too few to fill the device
  uint64_t sums = 0, queries = 0;              // backward
};
[[nodiscard]] FlashNeeds FlashNeedsOf(const AttentionCall& call, int multiprocessors);
// The logarithm of each row's sum, which memory-efficient attention keeps, padded to whole groups of rows.
inline constexpr uint64_t kRowUnit = 32;
[[nodiscard]] uint64_t EfficientSums(const AttentionCall& call);
// What memory-efficient attention's backward works in. Wider heads than these are several tiles beside each
// other (aten/src/ATen/native/transformers/cuda/mem_eff_attention/kernel_backward.h: kMaxK,
// kNeedsAccumGradK).
inline constexpr int64_t kWidestEfficient = 128;
// Flash attention takes no wider ones.
inline constexpr int64_t kWidestFlash = 256;
[[nodiscard]] uint64_t EfficientWorkspace(const AttentionCall& call);
// With another number of samples, in 16 bits: of heads wider than that, of which more share the device, so
// that fewer sums stand beside each other; and of flash attention, which shares out columns where rows are
// few. Nothing where the block is none of these.
[[nodiscard]] std::optional<uint64_t> WorkspaceWithBatch(const Step& step, uint32_t block, int64_t from,
                                                         int64_t to);
// What an operator of memory-efficient attention is given: [batch, rows, heads, width], from that argument
// on.
[[nodiscard]] std::optional<AttentionCall> EfficientCallOf(const Step& step, const Op& op, uint16_t query);

}  // namespace vramscope::whatif
