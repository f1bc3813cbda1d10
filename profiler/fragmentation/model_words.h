// SPDX-License-Identifier: Apache-2.0
// The texts of the fragmentation analysis and the settings to try, for each allocator model.
#pragma once

#include <span>
#include <string>

#include "profiler/allocator/history.h"

namespace vramscope::fragmentation {

struct ModelWords {
  const char* framework;  // "PyTorch"
  // To try, in order of preference. Each changes one thing.
  std::span<const char* const> settings;
  std::span<const char* const> few_settings;  // for a picture
  // A sentence: why no segment was added. "" = the driver's free bytes show why.
  const char* no_segment;
  // Advice: `ask_again` if a free block was large enough, `give_back` if giving back free segments is enough.
  const char* ask_again;
  const char* give_back;
};

[[nodiscard]] const ModelWords& WordsOf(allocator::Model model);
// "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True".
[[nodiscard]] std::string HowToSet(allocator::Model model, const std::string& settings);

}  // namespace vramscope::fragmentation
