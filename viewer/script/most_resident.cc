// SPDX-License-Identifier: Apache-2.0
#include "viewer/script/most_resident.h"

#include <sys/resource.h>

namespace vramscope::viewer {

uint64_t MostResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

}  // namespace vramscope::viewer
