// SPDX-License-Identifier: Apache-2.0
// The pushed ranges of the calling thread, so that a pop knows which range it ends.
//
// Each domain is a stack of its own: push(A), push(B), pop(A), pop(B) is allowed. A thread's ranges lie in a
// page of its own, allocated at its first push and freed when it ends. The page holds kDeepest ranges; deeper
// ones are counted but not recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

inline constexpr size_t kDeepest = 254;

// Returns the level in its domain, from 0; kNoTracking if there is no memory. Sets `recorded` to false if the
// range is too deep.
int PushRange(Domain domain, uint32_t name, bool& recorded);

struct Popped {
  int level;      // level of the range that ends, from 0; kNoTracking if none is open
  uint32_t name;  // 0 if its begin was not recorded in this process
};
Popped PopRange(Domain domain);

}  // namespace vramscope::injector::nvtx
