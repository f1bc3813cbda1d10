// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/report/trace_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "profiler/text/number.h"

namespace vramscope::cli {
namespace {

using trace::Event;
using trace::EventType;
using trace::MarkKind;

class Gatherer {
 public:
  explicit Gatherer(const model::Source& source) : source_(source) {
    for (const trace::ProcessInfo& info : source.processes()) {
      const auto process = static_cast<uint32_t>(facts_.processes.size());
      facts_.processes.push_back({info, Metadata(fmt::format("process.{}.role", process)), 0,
                                  model::LaunchOf(source.metadata(), process)});
    }
  }

  void Add(const Event& event) {
    if (!any_) facts_.first_time_ns = event.time_ns;
    any_ = true;
    facts_.last_time_ns = std::max(facts_.last_time_ns, event.time_ns);
    ++counts_[static_cast<size_t>(event.type) % counts_.size()];
    const uint32_t process = ProcessOf(event);
    if (process < facts_.processes.size()) ++facts_.processes[process].events;
    switch (event.type) {
      case EventType::kAlloc:
        AddAlloc(event);
        break;
      case EventType::kMark:
        AddMark(event, process);
        break;
      case EventType::kCoverage:
        AddCoverage(event, process);
        break;
      case EventType::kDriverAlloc:
        AddDriverCall(event.field[trace::driver_alloc::kResult]);
        ++driver_calls_[event.field[trace::driver_alloc::kLibrary]];
        break;
      case EventType::kDriverFree:
        AddDriverCall(event.field[trace::driver_free::kResult]);
        break;
      case EventType::kDriverMap:
        AddDriverCall(event.field[trace::driver_map::kResult]);
        break;
      case EventType::kDriverTotal:
        ++facts_.driver.samples;
        break;
      case EventType::kRangeBegin:
        if (event.field[trace::range::kKind] != static_cast<uint64_t>(trace::RangeKind::kNvtx)) break;
        ++facts_.nvtx.ranges;
        ++nvtx_ranges_[event.field[trace::range::kName]];
        break;
      case EventType::kLabel:
        if (event.field[trace::label::kRole] == static_cast<uint64_t>(trace::Role::kNamed))
          ++named_memory_[event.field[trace::label::kName]];
        break;
      case EventType::kLost:
        facts_.dropped_events += event.field[trace::lost::kCount];
        break;
      default:
        break;
    }
  }

  TraceFacts Finish() {
    for (size_t i = 0; i < counts_.size(); ++i) {
      facts_.events += counts_[i];
      if (counts_[i] != 0) facts_.by_type[trace::kEventSchema[i].name] = counts_[i];
    }
    for (const auto& [code, device] : devices_) facts_.devices.push_back(device);
    facts_.hooks = model::HooksOf(coverage_);
    for (const auto& [library, calls] : driver_calls_) {
      const std::string_view path = source_.String(static_cast<trace::StringId>(library));
      facts_.driver.by_library[std::string(path.substr(path.rfind('/') + 1))] += calls;
    }
    for (const auto& [name, ranges] : nvtx_ranges_)
      facts_.nvtx.by_name[std::string(source_.String(static_cast<trace::StringId>(name)))] += ranges;
    for (const auto& [name, times] : named_memory_) {
      const std::string_view text = source_.String(static_cast<trace::StringId>(name));
      if (!text.empty()) facts_.nvtx.memory_names[std::string(text)] += times;
    }
    facts_.steps = Steps();
    const auto lost = text::ParseNumber<uint64_t>(Metadata("recording.lost_events"));
    facts_.dropped_events = std::max(facts_.dropped_events, lost.value_or(0));
    return std::move(facts_);
  }

 private:
  std::string Metadata(std::string_view key) const {
    const auto found = source_.metadata().find(key);
    return found == source_.metadata().end() ? "" : found->second;
  }

  uint32_t ProcessOf(const Event& event) const {
    return event.thread < source_.threads().size() ? source_.threads()[event.thread].process : 0;
  }

  void AddAlloc(const Event& event) {
    const uint64_t code = event.field[trace::alloc::kDevice];
    DeviceFacts& device = devices_[code];
    device.code = code;
    ++device.allocations;
    device.allocated_bytes += event.field[trace::alloc::kSize];
  }

  void AddDriverCall(uint64_t result) {
    ++facts_.driver.calls;
    if (result != 0) ++facts_.driver.failed;
  }

  void AddMark(const Event& event, uint32_t process) {
    if (event.field[trace::mark::kKind] != static_cast<uint64_t>(MarkKind::kOptimizerStepDone)) return;
    ++optimizer_steps_[process][event.field[trace::mark::kTensor]];
  }

  void AddCoverage(const Event& event, uint32_t process) {
    const auto text = [&](size_t field) {
      return std::string(source_.String(static_cast<trace::StringId>(event.field[field])));
    };
    const auto state = static_cast<trace::CoverageState>(event.field[trace::coverage::kState]);
    coverage_.push_back({process, text(trace::coverage::kHook), state, text(trace::coverage::kDetail)});
  }

  uint64_t Steps() const {
    uint64_t most = 0;
    for (const auto& [process, optimizers] : optimizer_steps_) {
      const auto least = std::min_element(optimizers.begin(), optimizers.end(),
                                          [](const auto& a, const auto& b) { return a.second < b.second; });
      most = std::max(most, least->second);
    }
    return most;
  }

  const model::Source& source_;
  TraceFacts facts_;
  bool any_ = false;
  std::array<uint64_t, trace::kEventTypeCount> counts_{};
  std::map<uint64_t, DeviceFacts> devices_;
  std::map<uint64_t, uint64_t> driver_calls_;                // that allocated memory, by library
  std::map<uint64_t, uint64_t> nvtx_ranges_, named_memory_;  // by name
  std::vector<model::Coverage> coverage_;
  std::map<uint32_t, std::map<uint64_t, uint64_t>> optimizer_steps_;  // process -> optimizer -> steps
};

}  // namespace

TraceFacts GatherFacts(const model::Source& source) {
  Gatherer gatherer(source);
  const Status status = source.ForEachBatch([&](std::span<const Event> events) {
    for (const Event& event : events) gatherer.Add(event);
    return true;
  });
  // damage() reports a malformed block; the facts of all other blocks are still valid.
  (void)status;
  return gatherer.Finish();
}

}  // namespace vramscope::cli
