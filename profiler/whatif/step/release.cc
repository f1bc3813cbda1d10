// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/release.h"

#include <charconv>

namespace vramscope::whatif {

bool IsFrom(std::string_view torch, int major, int minor) {
  int first = 0, second = 0;
  const char* const end = torch.data() + torch.size();
  const auto [dot, error] = std::from_chars(torch.data(), end, first);
  if (error != std::errc() || dot == end) return true;
  (void)std::from_chars(dot + 1, end, second);
  return first > major || (first == major && second >= minor);
}

}  // namespace vramscope::whatif
