// SPDX-License-Identifier: Apache-2.0
// The open NVTX ranges of the calling thread. They determine which range a pop ends.
//
// Each NVTX domain has its own stack: push(A), push(B), pop(A), pop(B) is allowed. The memory for a thread's
// ranges is allocated at the first push and freed when the thread ends. A thread can have kDeepest recorded
// ranges open at once. More ranges are counted but not recorded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/nvtx/abi.h"

namespace vramscope::injector::nvtx {

inline constexpr size_t kDeepest = 254;

// Returns the 0-based nesting level of the range in its domain, or kNoTracking if no memory is available.
// Sets `recorded` to false if kDeepest ranges are already open.
int PushRange(Domain domain, uint32_t name, bool& recorded);

struct Popped {
  int level;      // 0-based level of the ended range; kNoTracking if no range is open
  uint32_t name;  // 0 if this process did not record the range's begin
};
Popped PopRange(Domain domain);

}  // namespace vramscope::injector::nvtx
