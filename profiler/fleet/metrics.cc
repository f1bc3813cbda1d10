// SPDX-License-Identifier: Apache-2.0
#include "profiler/fleet/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "profiler/text/json_dump.h"

namespace vramscope::fleet {
namespace {

using Json = nlohmann::ordered_json;
using Labels = std::vector<std::pair<std::string, std::string>>;

struct Point {
  Labels labels;
  uint64_t value = 0;
};

struct Metric {
  const char* name;
  const char* unit;  // for OTLP, in UCUM
  const char* help;
  std::vector<Point> points;
};

struct RankMetric {
  const char* name;
  const char* unit;
  const char* help;
  std::optional<uint64_t> (*value)(const RankSummary& rank);
};

// 1 if the rank failed. 0 otherwise, also if the recording continues or its end is not known.
std::optional<uint64_t> HasFailed(const RankSummary& rank) {
  return rank.ending == Ending::kFailed || rank.ending == Ending::kKilled ||
         rank.ending == Ending::kOutOfMemory;
}
std::optional<uint64_t> LastStep(const RankSummary& rank) {
  return rank.steps.empty() ? std::nullopt : std::optional<uint64_t>(rank.steps.back().number);
}
std::optional<uint64_t> UnusedNow(const RankSummary& rank) {
  if (!rank.last_reserved_bytes.has_value()) return std::nullopt;
  return *rank.last_reserved_bytes - std::min(*rank.last_reserved_bytes, rank.last_bytes);
}

constexpr RankMetric kRankMetrics[] = {
    {"vramscope_rank_failed", "1", "1 if the rank failed, was killed or ran out of memory, otherwise 0.",
     HasFailed},
    {"vramscope_device_used_bytes", "By", "Memory of the device that all processes use now.",
     [](const RankSummary& rank) { return rank.last_used_bytes; }},
    {"vramscope_device_capacity_bytes", "By", "Memory of the device.",
     [](const RankSummary& rank) { return rank.capacity_bytes; }},
    {"vramscope_allocated_bytes", "By", "Memory that tensors occupy now.",
     [](const RankSummary& rank) { return std::optional(rank.last_bytes); }},
    {"vramscope_reserved_bytes", "By", "Memory that PyTorch's allocator reserves now.",
     [](const RankSummary& rank) { return rank.last_reserved_bytes; }},
    {"vramscope_unused_bytes", "By",
     "Memory that is reserved but not allocated now: fragmentation and cache.", UnusedNow},
    {"vramscope_peak_allocated_bytes", "By", "Most bytes allocated at one time since the start.",
     [](const RankSummary& rank) { return std::optional(rank.peak_bytes); }},
    {"vramscope_peak_reserved_bytes", "By", "Most bytes reserved at one time since the start.",
     [](const RankSummary& rank) { return rank.reserved_bytes; }},
    {"vramscope_headroom_bytes", "By", "Free memory of the device at its fullest moment.",
     [](const RankSummary& rank) { return rank.headroom_bytes(); }},
    {"vramscope_outside_bytes", "By",
     "Memory that the process uses outside PyTorch's allocator, at the peak.",
     [](const RankSummary& rank) { return rank.outside_bytes; }},
    {"vramscope_growth_bytes_per_step", "By", "Growth of allocated memory from step to step.",
     [](const RankSummary& rank) { return std::optional(rank.growth_per_step); }},
    {"vramscope_steps_until_out_of_memory", "1", "Steps until the headroom is used up, if memory grows.",
     [](const RankSummary& rank) { return rank.steps_left(); }},
    {"vramscope_step", "1", "Last optimizer step that was finished.", LastStep},
};

std::vector<size_t> RanksShown(const Job& job) {
  std::vector<size_t> order(job.ranks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (order.size() <= kMostRanksInMetrics) return order;
  std::set<size_t> flagged;
  for (const Finding& finding : job.findings) flagged.insert(finding.ranks.begin(), finding.ranks.end());
  const auto key = [&](size_t i) { return std::pair(flagged.contains(i), job.ranks[i].peak_bytes); };
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  order.resize(kMostRanksInMetrics);
  std::sort(order.begin(), order.end());
  return order;
}

Labels LabelsOf(const RankSummary& rank) {
  Labels labels;
  if (rank.rank.has_value()) labels.emplace_back("rank", std::to_string(*rank.rank));
  if (!rank.host.empty()) labels.emplace_back("host", rank.host);
  labels.emplace_back("device", rank.device);
  if (const std::string place = model::MeshText(rank.mesh); !place.empty())
    labels.emplace_back("place", place);
  return labels;
}

Metric Categories(const Job& job) {
  Metric metric{"vramscope_peak_category_bytes", "By", "Allocated memory at the peak, by category.", {}};
  if (job.ranks.size() > kMostRanksWithCategories) return metric;
  for (const RankSummary& rank : job.ranks) {
    for (size_t i = 0; i < rank.categories.size(); ++i) {
      if (rank.categories[i] == 0) continue;
      Labels labels = LabelsOf(rank);
      labels.emplace_back("category", classify::Info(static_cast<classify::Category>(i)).key);
      metric.points.push_back({std::move(labels), rank.categories[i]});
    }
  }
  return metric;
}

Metric Findings(const Job& job) {
  Metric metric{
      "vramscope_findings", "1", "Number of findings, by kind (vramscope fleet explains them).", {}};
  for (auto kind = Finding::Kind::kOutOfMemory; kind <= Finding::Kind::kMissing;
       kind = static_cast<Finding::Kind>(static_cast<int>(kind) + 1)) {
    const auto count = std::count_if(job.findings.begin(), job.findings.end(),
                                     [&](const Finding& finding) { return finding.kind == kind; });
    metric.points.push_back({{{"kind", FindingKey(kind)}}, static_cast<uint64_t>(count)});
  }
  return metric;
}

std::vector<Metric> MetricsOf(const Job& job) {
  std::vector<Metric> metrics = {
      {"vramscope_ranks", "1", "Number of ranks of the job.", {{{}, job.ranks.size()}}}, Findings(job)};
  const std::vector<size_t> shown = RanksShown(job);
  for (const RankMetric& one : kRankMetrics) {
    Metric metric{one.name, one.unit, one.help, {}};
    for (const size_t i : shown)
      if (const auto value = one.value(job.ranks[i]))
        metric.points.push_back({LabelsOf(job.ranks[i]), *value});
    metrics.push_back(std::move(metric));
  }
  metrics.push_back(Categories(job));
  std::erase_if(metrics, [](const Metric& metric) { return metric.points.empty(); });
  return metrics;
}

// A label's value with backslash, quote and line feed escaped.
std::string Escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == '\\' || c == '"') text += '\\';
    text += c == '\n' ? "\\n" : std::string(1, c);
  }
  return text;
}

}  // namespace

std::string PrometheusText(const Job& job) {
  std::string text;
  for (const Metric& metric : MetricsOf(job)) {
    text += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", metric.name, metric.help);
    for (const Point& point : metric.points) {
      std::string labels;
      for (const auto& [name, value] : point.labels)
        labels += fmt::format("{}{}=\"{}\"", labels.empty() ? "" : ",", name, Escaped(value));
      text += labels.empty() ? fmt::format("{} {}\n", metric.name, point.value)
                             : fmt::format("{}{{{}}} {}\n", metric.name, labels, point.value);
    }
  }
  return text;
}

std::string OtlpText(const Job& job, uint64_t now_ns) {
  const auto text_attribute = [](const std::string& key, const std::string& value) {
    return Json{{"key", key}, {"value", {{"stringValue", value}}}};
  };
  Json metrics = Json::array();
  for (const Metric& metric : MetricsOf(job)) {
    Json points = Json::array();
    for (const Point& point : metric.points) {
      Json attributes = Json::array();
      for (const auto& [name, value] : point.labels) attributes.push_back(text_attribute(name, value));
      // Protobuf's JSON mapping writes 64-bit integers as strings.
      points.push_back({{"attributes", attributes},
                        {"timeUnixNano", std::to_string(now_ns)},
                        {"asInt", std::to_string(point.value)}});
    }
    metrics.push_back({{"name", metric.name},
                       {"description", metric.help},
                       {"unit", metric.unit},
                       {"gauge", {{"dataPoints", points}}}});
  }
  const Json document = {
      {"resourceMetrics",
       {{{"resource", {{"attributes", Json::array({text_attribute("service.name", "vramscope")})}}},
         {"scopeMetrics", {{{"scope", {{"name", "vramscope.fleet"}}}, {"metrics", metrics}}}}}}}};
  return text::Dump(document, -1) + "\n";
}

}  // namespace vramscope::fleet
