// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/gpu_table.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

namespace vramscope::collector {

std::vector<GpuModel> ParseGpus(const std::string& rows) {
  std::vector<GpuModel> models;
  std::istringstream table(rows);
  // Name, product, then compute capability and multiprocessors before the capacity in MiB. Last come the
  // context, its source kind, the source kind of the capacity, and the source itself.
  const std::regex row(
      R"x(^GPU\("([^"]+)",\s*"([^"]+)",\s*(\d+),\s*(\d+),\s*\d+,\s*(\d+),.*,\s*(\d+),\s*k\w+,\s*k(\w+),\s*"([^"]+)"\))x");
  for (std::string line; std::getline(table, line);) {
    std::smatch found;
    if (!std::regex_search(line, found, row)) continue;
    const bool nominal = found[7] == "Nominal", by_capacity = found[7] == "ByCapacity";
    models.push_back({found[1], found[2], std::stoull(found[5]) << 20, std::stoull(found[6]) << 20, "",
                      10 * std::stoi(found[3]) + std::stoi(found[4]),
                      nominal       ? fmt::format("{} nominal, minus 4 %", found[8].str())
                      : by_capacity ? fmt::format("{} nominal; only the memory is simulated", found[8].str())
                                    : found[8].str(),
                      by_capacity});
  }
  return models;
}

}  // namespace vramscope::collector
