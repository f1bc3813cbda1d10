// SPDX-License-Identifier: Apache-2.0
// The thirteen categories of memory use, with their names and colors.
//
// Any two colors have a CIE76 distance (color difference) above 25, also for protanopic and deuteranopic
// eyes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace vramscope::classify {

enum class Category : uint8_t {
  kParameter,
  kBuffer,
  kGradient,
  kOptimizerState,
  kActivation,  // a tensor that autograd keeps for backward
  kInput,
  kTemporaryForward,
  kTemporaryBackward,
  kTemporaryOptimizer,
  kWorkspace,      // of cuBLAS and cuDNN
  kCommunication,  // of NCCL, and buckets of DDP and FSDP
  kContext,        // the driver's context and code
  kUnattributed,
};
inline constexpr size_t kCategoryCount = 13;

struct CategoryInfo {
  const char* key;     // in JSON: "optimizer_state"
  const char* name;    // as a heading: "Optimizer state"
  const char* plural;  // in a sentence: "optimizer state", "activations"
  uint32_t rgb;        // 0xRRGGBB
  uint8_t color_256;   // the nearest of xterm's 256 colors
};

[[nodiscard]] const CategoryInfo& Info(Category category);
[[nodiscard]] std::optional<Category> CategoryFromKey(std::string_view key);

// Bytes by category, indexed by Category.
using CategoryBytes = std::array<uint64_t, kCategoryCount>;
[[nodiscard]] uint64_t Sum(const CategoryBytes& bytes);

}  // namespace vramscope::classify
