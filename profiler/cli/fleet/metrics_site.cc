// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/fleet/metrics_site.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "profiler/cli/frame/verb.h"
#include "profiler/fleet/metrics.h"
#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

using Clock = std::chrono::steady_clock;

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::system_clock::now().time_since_epoch())
                                   .count());
}

class MetricsSite {
 public:
  explicit MetricsSite(const std::function<Result<fleet::Job>()>& read) : read_(read) {}

  serve::Answer AnswerTo(const serve::Request& request) {
    if (request.method != "GET" && request.method != "HEAD")
      return {.status = 405, .body = "Only GET and HEAD are answered.\n"};
    const std::string_view path = request.target.substr(0, request.target.find('?'));
    if (path == "/")
      return {.body = "vramscope: metrics at /metrics (Prometheus) and /otlp (OpenTelemetry).\n"};
    if (path != "/metrics" && path != "/otlp") return {.status = 404, .body = "Only /metrics and /otlp.\n"};
    Refresh();
    if (!job_.has_value()) return {.status = 503, .body = why_not_ + "\n"};
    if (path == "/otlp") return {.type = "application/json", .body = fleet::OtlpText(*job_, NowNs())};
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = fleet::PrometheusText(*job_)};
  }

 private:
  void Refresh() {
    if (Clock::now() < fresh_until_) return;
    const Clock::time_point begin = Clock::now();
    Result<fleet::Job> job = read_();
    if (job.ok())
      job_ = std::move(*job);
    else
      why_not_ = job.error().sentence;  // the last figures stay: between two jobs there is nothing to read
    const Clock::time_point end = Clock::now();
    fresh_until_ = end + std::max<Clock::duration>(std::chrono::seconds(1), 9 * (end - begin));
  }

  const std::function<Result<fleet::Job>()>& read_;
  std::optional<fleet::Job> job_;
  std::string why_not_;
  Clock::time_point fresh_until_;
};

}  // namespace

Result<MetricsPlace> ParsePlace(const std::string& text) {
  MetricsPlace place;
  const size_t colon = text.rfind(':');
  if (colon != std::string::npos) place.address = text.substr(0, colon);
  if (place.address.empty()) place.address = "0.0.0.0";
  if (place.address == "localhost") place.address = "127.0.0.1";
  if (place.address.size() > 2 && place.address.front() == '[' && place.address.back() == ']')
    place.address = place.address.substr(1, place.address.size() - 2);
  const auto port = text::ParseNumber<decltype(place.port)>(
      std::string_view(text).substr(colon == std::string::npos ? 0 : colon + 1));
  if (!port)
    return UsageError(fmt::format(
        "--prometheus needs a port or ADDRESS:PORT, like 9400 or 0.0.0.0:9400, not '{}'.", Printable(text)));
  place.port = *port;
  return place;
}

Status ServeMetrics(const MetricsPlace& place, const std::function<Result<fleet::Job>()>& read) {
  MetricsSite site(read);
  return serve::ServeUntilSignal([&](const serve::Request& request) { return site.AnswerTo(request); },
                                 place.address, place.port,
                                 [&](uint16_t port) {
                                   const bool wide = place.address.find(':') != std::string::npos;
                                   Print(fmt::format("http://{}{}{}:{}/metrics\nCtrl-C ends it.\n",
                                                     wide ? "[" : "", place.address, wide ? "]" : "", port));
                                   std::fflush(stdout);
                                 });
}

}  // namespace vramscope::cli
