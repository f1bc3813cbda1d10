// SPDX-License-Identifier: Apache-2.0
// The pushed ranges of the calling thread: which range a pop ends.
//
// Each domain is its own stack: push(A), push(B), pop(A), pop(B) is allowed. A thread's page is allocated at
// its first push and freed when the thread ends. Ranges deeper than kDeepest are counted but not recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

inline constexpr size_t kDeepest = 254;

// Returns the range's level in its domain, from 0; kNoTracking without memory. `recorded`: false if the range
// is too deep.
int PushRange(Domain domain, uint32_t name, bool& recorded);

struct Popped {
  int level;      // of the ended range, from 0; kNoTracking if none is open
  uint32_t name;  // 0 if its begin was not recorded here
};
Popped PopRange(Domain domain);

}  // namespace vramscope::injector::nvtx
