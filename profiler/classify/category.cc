// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/category.h"

#include <numeric>

namespace vramscope::classify {
namespace {

constexpr std::array<CategoryInfo, kCategoryCount> kCategories = {{
    {"parameter", "Parameters", "parameters", 0x4E63DC, 62},
    {"buffer", "Buffers", "buffers", 0x7AA3F6, 111},
    {"gradient", "Gradients", "gradients", 0x1CAB64, 35},
    {"optimizer_state", "Optimizer state", "optimizer state", 0x6A4886, 60},
    {"activation", "Activations", "activations", 0xD69810, 172},
    {"input", "Inputs", "inputs", 0xFFEC71, 227},
    {"temporary_forward", "Temporary, forward", "temporaries of forward", 0xDCF4A9, 193},
    {"temporary_backward", "Temporary, backward", "temporaries of backward", 0x9C640F, 130},
    {"temporary_optimizer", "Temporary, optimizer", "temporaries of the optimizer", 0xCCCDFA, 189},
    {"workspace", "Workspaces", "workspaces", 0x7A3C23, 94},
    {"communication", "Communication", "communication buffers", 0xEEC0BF, 217},
    {"context", "Context and code", "context and code", 0x56484E, 239},
    {"unattributed", "Unattributed", "unattributed memory", 0x888898, 245},
}};

}  // namespace

const CategoryInfo& Info(Category category) { return kCategories[static_cast<size_t>(category)]; }

std::optional<Category> CategoryFromKey(std::string_view key) {
  for (size_t i = 0; i < kCategoryCount; ++i) {
    if (key == kCategories[i].key) return static_cast<Category>(i);
  }
  return std::nullopt;
}

uint64_t Sum(const CategoryBytes& bytes) { return std::accumulate(bytes.begin(), bytes.end(), uint64_t{0}); }

}  // namespace vramscope::classify
