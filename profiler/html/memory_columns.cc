// SPDX-License-Identifier: Apache-2.0
#include "profiler/html/memory_columns.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "profiler/classify/memory_series.h"
#include "profiler/timeline/step_line.h"

namespace vramscope::html {
namespace {

using Json = nlohmann::ordered_json;
using model::EventIndex;

constexpr uint64_t kColumnsOfAKind = 2048;

// Stores numbers as differences from the previous number, which have fewer digits.
class Differences {
 public:
  void Add(int64_t value) {
    list_.push_back(value - before_);
    before_ = value;
  }
  [[nodiscard]] bool all_zero() const {
    return std::all_of(list_.begin(), list_.end(), [](int64_t difference) { return difference == 0; });
  }
  [[nodiscard]] const std::vector<int64_t>& list() const { return list_; }

 private:
  std::vector<int64_t> list_;
  int64_t before_ = 0;
};

// The first event of each column.
std::vector<EventIndex> Boundaries(const model::Run& run, const timeline::Step* detail) {
  std::vector<EventIndex> all = {0};
  const auto add_evenly = [&](uint64_t begin, uint64_t end) {
    const uint64_t count = std::min<uint64_t>(kColumnsOfAKind, end - begin);
    for (uint64_t i = 0; i < count; ++i)
      all.push_back(static_cast<EventIndex>(begin + (end - begin) * i / count));
  };
  add_evenly(0, run.event_count());
  if (detail != nullptr) add_evenly(detail->begin, std::min(detail->end, run.event_count()));
  for (uint64_t i = 0; i < kColumnsOfAKind; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(kColumnsOfAKind);
    const EventIndex last =
        run.times.LastEventAt(static_cast<uint64_t>(part * static_cast<double>(run.times.last_ns())));
    if (last != model::kNever && last + 1 < run.event_count()) all.push_back(last + 1);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

Json LineJson(const timeline::StepLine& line, const std::vector<EventIndex>& begins, EventIndex end) {
  if (line.empty()) return nullptr;
  Differences highest;
  for (size_t i = 0; i < begins.size(); ++i) {
    const timeline::Extremes extremes =
        line.Over(begins[i], (i + 1 < begins.size() ? begins[i + 1] : end) - 1);
    highest.Add(extremes.empty() ? 0 : extremes.high);
  }
  return highest.list();
}

}  // namespace

Json MemoryColumns(const classify::Analysis& analysis, model::DeviceIndex device, EventIndex peak) {
  const model::Run& run = analysis.run();
  const model::Device& of = run.devices[device];
  const timeline::Training& training = analysis.training()[of.process];
  const classify::MemorySeries series(run, analysis.categories(), device);
  const std::vector<EventIndex> begins = Boundaries(run, training.StepAt(peak));
  const EventIndex end = run.event_count();

  Differences begin_ns, peak_ns, low, step, phase;
  std::array<Differences, classify::kCategoryCount> bytes;
  classify::MemorySeries::Walk walk(series);
  for (size_t i = 0; i < begins.size(); ++i) {
    const EventIndex last = (i + 1 < begins.size() ? begins[i + 1] : end) - 1;
    const classify::MemoryColumn column = walk.Over(begins[i], last);
    const timeline::Span& span = training.SpanAt(column.high_event);
    begin_ns.Add(static_cast<int64_t>(run.times.TimeOf(begins[i])));
    peak_ns.Add(static_cast<int64_t>(run.times.TimeOf(column.high_event)));
    low.Add(static_cast<int64_t>(column.low));
    step.Add(span.step);
    phase.Add(static_cast<int64_t>(timeline::PhaseOf(span.part)));
    for (size_t c = 0; c < bytes.size(); ++c) bytes[c].Add(static_cast<int64_t>(column.categories[c]));
  }

  Json categories = Json::object();
  for (const classify::Category category : classify::StackOrder()) {
    const Differences& of_category = bytes[static_cast<size_t>(category)];
    if (!of_category.all_zero()) categories[classify::Info(category).key] = of_category.list();
  }
  const model::DriverDevice* const driver = run.driver.Find(of.process, of.code);
  Json json = {{"end_ns", run.times.last_ns()},
               {"begin_ns", begin_ns.list()},
               {"peak_ns", peak_ns.list()},
               {"low_bytes", low.list()}};
  json["reserved_bytes"] = LineJson(timeline::StepLine(of.reserved), begins, end);
  json["used_bytes"] = driver == nullptr ? Json(nullptr) : LineJson(timeline::UsedLine(*driver), begins, end);
  json["step"] = step.list();
  json["phase"] = phase.list();
  json["categories"] = std::move(categories);
  return json;
}

}  // namespace vramscope::html
