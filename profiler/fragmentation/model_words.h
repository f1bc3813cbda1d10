// SPDX-License-Identifier: Apache-2.0
// Texts of the fragmentation analysis, and settings to try, for each allocator (PyTorch's or TensorFlow's).
#pragma once

#include <span>
#include <string>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

struct ModelWords {
  const char* framework;  // "PyTorch"
  // Allocator settings to try, in order of preference. Each one changes a single option.
  std::span<const char* const> settings;
  std::span<const char* const> few_settings;  // shorter list, for a picture
  // A sentence that explains why the allocator added no segment. "" = the driver's free bytes are the reason.
  const char* no_segment;
  // Advice for a failed request. `ask_again` is for the case that a free block was large enough. `give_back`
  // is for the case that the request would fit after free segments go back to the driver.
  const char* ask_again;
  const char* give_back;
};

[[nodiscard]] const ModelWords& WordsOf(allocator::Model model);
// Returns the instruction for the user: "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True".
[[nodiscard]] std::string HowToSet(allocator::Model model, const std::string& settings);

}  // namespace vramscope::fragmentation
