// SPDX-License-Identifier: Apache-2.0
// Fuzz test: parses any bytes as PYTORCH_CUDA_ALLOC_CONF by the rules of every release. The result must be
// settings within PyTorch's limits or a sentence that names a key, never a crash. Seeds: strings like those
// of settings_test.cc.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "profiler/allocator/settings.h"

namespace vramscope::allocator {
namespace {

void Require(bool held) {
  if (!held) std::abort();
}

void Check(const Settings& settings) {
  Require(settings.large_segment_bytes > 10 * kMiB);
  Require(settings.max_split_bytes >= settings.large_segment_bytes);
  Require(settings.garbage_collection_threshold >= 0 && settings.garbage_collection_threshold < 1);
  Require(settings.per_process_memory_fraction >= 0 && settings.per_process_memory_fraction <= 1);
  for (const uint64_t divisions : settings.roundup_power2_divisions)
    Require(divisions == 0 || std::has_single_bit(divisions));
  if (settings.expandable_reserve) Require(settings.expandable_reserve->value > 0);
}

}  // namespace
}  // namespace vramscope::allocator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace vramscope::allocator;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Release& release : Releases()) {
    const auto settings = ParseSettings(text, release);
    if (settings.ok()) {
      Check(*settings);
      // Accepted settings must be accepted a second time.
      Require(ChangeSettings(*settings, text, release).ok());
    } else {
      Require(settings.error().sentence.starts_with("allocator setting "));
    }
  }
  return 0;
}
