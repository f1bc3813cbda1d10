// SPDX-License-Identifier: Apache-2.0
// The pushed ranges of the calling thread, so that a pop knows what it ends.
//
// Each domain is a stack of its own: push(A), push(B), pop(A), pop(B) is allowed. A thread's ranges lie in a
// page of its own that is had at its first push and given back when it ends; kDeepest is what fits, deeper
// ones are counted but not recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

inline constexpr size_t kDeepest = 254;

// Returns the level in its domain, from 0; kNoTracking when there is no memory. `recorded` becomes false when
// the range is too deep.
int PushRange(Domain domain, uint32_t name, bool& recorded);

struct Popped {
  int level;      // of the range that ends, from 0; kNoTracking when none is open
  uint32_t name;  // 0 when its begin was not recorded in this process
};
Popped PopRange(Domain domain);

}  // namespace vramscope::injector::nvtx
