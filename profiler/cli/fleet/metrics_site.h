// SPDX-License-Identifier: Apache-2.0
// Serves the figures of a running job over HTTP: to Prometheus at /metrics, and as OTLP at /otlp.
#pragma once

#include <functional>
#include <string>

#include "profiler/fleet/job.h"
#include "profiler/serve/server.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// Where requests are accepted.
struct MetricsPlace {
  std::string address = serve::kLoopback;
  uint16_t port = 0;  // 0 = any free one
};

// "9400" and "127.0.0.1:9400" are for this machine alone. ":9400" and "0.0.0.0:9400" are for the network.
[[nodiscard]] Result<MetricsPlace> ParsePlace(const std::string& text);

// Serves until Ctrl-C. If a call of `read` took t, its answer is used for 9 t, at least for 1 s. So frequent
// scrapes do not slow down the training.
Status ServeMetrics(const MetricsPlace& place, const std::function<Result<fleet::Job>()>& read);

}  // namespace vramscope::cli
