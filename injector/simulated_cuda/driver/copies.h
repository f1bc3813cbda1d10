// SPDX-License-Identifier: Apache-2.0
// Copies and fills memory of the simulated GPU. Copies into device memory above a size limit are skipped,
// because few programs read the result.
#pragma once

#include <cstdint>

namespace vramscope::simulated {

// Copies `bytes`; the ranges may overlap. A copy to the host is always carried out. A copy into device memory
// that is larger than TheSettings().copy_limit is skipped, and the destination keeps its contents. Returns
// kInvalidValue if a range leaves the device's memory.
int Copy(uint64_t to, uint64_t from, uint64_t bytes);

// Writes `count` values of `width` bytes (1, 2 or 4). A fill with zero releases host pages. A fill with
// another value is skipped if it is larger than the copy limit.
int Fill(uint64_t to, uint32_t value, unsigned width, uint64_t count);

}  // namespace vramscope::simulated
