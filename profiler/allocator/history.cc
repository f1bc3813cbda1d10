// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/history.h"

#include <cstdio>

namespace vramscope::allocator {

std::string Hex(uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string Describe(const Event& event) {
  static constexpr const char* kActions[] = {"alloc",         "free requested", "free completed",
                                             "segment alloc", "segment free",   "segment map",
                                             "segment unmap", "snapshot",       "out of memory"};
  std::string text = std::string(kActions[static_cast<size_t>(event.action)]) + ", " +
                     std::to_string(event.bytes) + " bytes";
  if (event.action != Action::kOutOfMemory && event.action != Action::kSnapshot)
    text += " at " + Hex(event.address);
  if (event.stream != 0) text += ", stream " + std::to_string(event.stream);
  return text;
}

}  // namespace vramscope::allocator
