// SPDX-License-Identifier: Apache-2.0
// Reads and writes packing problems as CSV text. Each line is one item, with the columns id, lower, upper and
// size, in any order, after a header line. This is the format of MiniMalloc's benchmarks. An item is alive in
// the half-open interval [lower, upper).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/packing/instance.h"
#include "trace_format/result.h"

namespace vramscope::packing {

struct NamedItems {
  std::vector<Item> items;
  std::vector<std::string> names;  // by index of the item
};

// Parses CSV text. An error names the line, but does not begin with a file name.
[[nodiscard]] Result<NamedItems> ParseCsv(std::string_view text);
// Returns CSV text with the same columns, plus the column `offset` of the packing.
[[nodiscard]] std::string OffsetsCsv(const NamedItems& named, const Packing& packing);

}  // namespace vramscope::packing
