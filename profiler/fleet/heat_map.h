// SPDX-License-Identifier: Apache-2.0
// A heat map of the peaks of all steps and ranks, reduced to the size of a picture.
//
//   step        1    ...   240            a column has the highest peak of its steps,
//                                         a row has the highest peak of its ranks
//   rank 0    8.0 GiB   8.1 GiB
//   rank 1    8.0 GiB  11.2 GiB           <- stands out
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
    std::string name;             // "rank 5", "ranks 32 to 63"
    std::vector<uint64_t> bytes;  // by column; 0 = not recorded
  };
  uint32_t first_step = 0;
  uint32_t steps_per_column = 1;
  size_t ranks_per_row = 1;  // row i begins with rank i * ranks_per_row
  std::vector<Row> rows;     // empty without steps
};
[[nodiscard]] HeatMap HeatMapOf(const Job& job);

}  // namespace vramscope::fleet
