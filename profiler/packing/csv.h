// SPDX-License-Identifier: Apache-2.0
// Instances as text: the columns id, lower, upper and size of MiniMalloc's benchmarks, in any order, with a
// header line. Times are half-open: an item lives in [lower, upper).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/packing/instance.h"
#include "trace_format/result.h"

namespace vramscope::packing {

struct NamedItems {
  std::vector<Item> items;
  std::vector<std::string> names;  // by item
};

// An error names the line. The sentence does not begin with a file name.
[[nodiscard]] Result<NamedItems> ParseCsv(std::string_view text);
// Writes the same columns, and `offset`.
[[nodiscard]] std::string OffsetsCsv(const NamedItems& named, const Packing& packing);

}  // namespace vramscope::packing
