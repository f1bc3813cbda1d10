// SPDX-License-Identifier: Apache-2.0
// An HTTP server for the memory figures of a running job. /metrics is for Prometheus, and /otlp returns OTLP.
#pragma once

#include <functional>
#include <string>

#include "profiler/fleet/job.h"
#include "profiler/serve/server.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// The address and port on which the server listens.
struct MetricsPlace {
  std::string address = serve::kLoopback;
  uint16_t port = 0;  // 0 = any free port
};

// "9400" and "127.0.0.1:9400" accept requests from this machine only. ":9400" and "0.0.0.0:9400" also accept
// requests from the network.
[[nodiscard]] Result<MetricsPlace> ParsePlace(const std::string& text);

// Serves until Ctrl-C. The result of `read` is reused for nine times the duration of the call, and for at
// least 1 s. Therefore frequent scrapes do not slow down the training.
Status ServeMetrics(const MetricsPlace& place, const std::function<Result<fleet::Job>()>& read);

}  // namespace vramscope::cli
