// SPDX-License-Identifier: Apache-2.0
// Formats the memory of a job's ranks as metrics: text for Prometheus, and OTLP for OpenTelemetry collectors.
//
//   vramscope_allocated_bytes{rank="37",host="node-09",device="cuda:3",place="pp 2, dp 5"} 8589934592
//
// Each rank has 13 time series. Jobs with at most kMostRanksWithCategories ranks also have series by
// category. Process IDs and file names are not used as labels, because they change with every start.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// Metrics contain at most this many ranks: first the ranks that stand out, then those with the highest peaks.
// vramscope_ranks counts all ranks.
inline constexpr size_t kMostRanksInMetrics = 1024;
inline constexpr size_t kMostRanksWithCategories = 64;

// Returns the metrics in the Prometheus text format 0.0.4. Unknown figures have no line.
[[nodiscard]] std::string PrometheusText(const Job& job);
// Returns the metrics as one JSON document of OTLP (ExportMetricsServiceRequest). `now_ns`: nanoseconds since
// 1970.
[[nodiscard]] std::string OtlpText(const Job& job, uint64_t now_ns);

}  // namespace vramscope::fleet
