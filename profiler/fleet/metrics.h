// SPDX-License-Identifier: Apache-2.0
// The ranks of a job as metrics: text for Prometheus, and OTLP for OpenTelemetry collectors.
//
//   vramscope_allocated_bytes{rank="37",host="node-09",device="cuda:3",place="pp 2, dp 5"} 8589934592
//
// A job has 13 series for each rank. Series by category exist only for jobs with few ranks. Process IDs and
// file names are not used as labels, because they change with every start.
#pragma once

#include <cstdint>
#include <string>

#include "profiler/fleet/job.h"

namespace vramscope::fleet {

// For larger jobs, the metrics contain the ranks that stand out, then those with the highest peaks.
// vramscope_ranks counts all ranks.
inline constexpr size_t kMostRanksInMetrics = 1024;
inline constexpr size_t kMostRanksWithCategories = 64;

// The text format 0.0.4 of Prometheus. Unknown figures have no line.
[[nodiscard]] std::string PrometheusText(const Job& job);
// One JSON document of OTLP (ExportMetricsServiceRequest). `now_ns`: nanoseconds since 1970.
[[nodiscard]] std::string OtlpText(const Job& job, uint64_t now_ns);

}  // namespace vramscope::fleet
