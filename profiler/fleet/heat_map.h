// SPDX-License-Identifier: Apache-2.0
// A heat map of the peak of every step on every rank, reduced to the size of a picture.
//
//   step        1    ...   240            if several steps share a column, or several ranks share a row,
//                                         the cell has their highest peak
//   rank 0    8.0 GiB   8.1 GiB
//   rank 1    8.0 GiB  11.2 GiB           <- a rank with a higher peak than others
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

struct HeatMap {
  static constexpr uint32_t kMostColumns = 240;
  static constexpr size_t kMostRows = 512;

  struct Row {
    std::string name;             // such as "rank 5" or "ranks 32 to 63"
    std::vector<uint64_t> bytes;  // by column; 0 = not recorded
  };
  uint32_t first_step = 0;
  uint32_t steps_per_column = 1;
  size_t ranks_per_row = 1;  // row i begins with rank i * ranks_per_row
  std::vector<Row> rows;     // empty if no steps were recorded
};
[[nodiscard]] HeatMap HeatMapOf(const Job& job);

}  // namespace vramscope::fleet
