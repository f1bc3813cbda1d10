// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/host_memory.h"

#include <algorithm>
#include <array>
#include <map>

namespace vramscope::report {
namespace {

using model::ProcessIndex;
using Series = std::vector<TimedValue>;

constexpr uint64_t kLeastGrowth = 8 << 20;
constexpr uint64_t kLeastGrowthPercent = 2;
constexpr size_t kFewestValues = 8;
constexpr size_t kParts = 4;

uint64_t Highest(const Series& series) {
  uint64_t peak = 0;
  for (const TimedValue& value : series) peak = std::max(peak, value.value);
  return peak;
}

uint64_t Median(std::vector<uint64_t> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// The counters of each process by name, in order of time.
class Counters {
 public:
  explicit Counters(const model::Run& run) {
    for (const model::CounterSample& sample : run.counters) {
      series_[{sample.process, run.Text(sample.name)}].push_back(
          {run.times.TimeOf(sample.event), sample.value});
    }
  }
  [[nodiscard]] const Series& Of(ProcessIndex process, std::string_view name) const {
    static const Series kNone;
    const auto found = series_.find({process, name});
    return found == series_.end() ? kNone : found->second;
  }

 private:
  std::map<std::pair<ProcessIndex, std::string_view>, Series> series_;
};

// The sum over processes, at each moment when one of them changes; a process counts until its end.
Series SumOf(const model::Run& run, const Counters& counters, const std::vector<ProcessIndex>& processes,
             std::string_view name) {
  struct Change {
    uint64_t time_ns;
    size_t process;
    uint64_t value;
  };
  std::vector<Change> changes;
  for (size_t i = 0; i < processes.size(); ++i) {
    const Series& series = counters.Of(processes[i], name);
    for (const TimedValue& value : series) changes.push_back({value.time_ns, i, value.value});
    const uint64_t end_ns = run.processes[processes[i]].info.end_ns;
    if (!series.empty() && end_ns != 0) changes.push_back({std::max(end_ns, series.back().time_ns), i, 0});
  }
  std::stable_sort(changes.begin(), changes.end(),
                   [](const Change& a, const Change& b) { return a.time_ns < b.time_ns; });
  std::vector<uint64_t> now(processes.size());
  Series sum;
  uint64_t total = 0;
  for (const Change& change : changes) {
    total += change.value - now[change.process];
    now[change.process] = change.value;
    sum.push_back({change.time_ns, total});
  }
  return sum;
}

class Finder {
 public:
  Finder(const model::Run& run, ProcessIndex main, const timeline::Training& training)
      : run_(run), main_(main), steps_(training.steps()), counters_(run) {}

  std::optional<HostMemory> Find() const {
    HostMemory memory;
    memory.pinned = Pinned();
    if (counters_.Of(main_, "host.rss").empty() && !memory.pinned.has_value()) return std::nullopt;
    memory.main = ProcessOf(main_);
    const std::vector<ProcessIndex> workers = Descendants();
    for (const ProcessIndex worker : workers) memory.workers.push_back(ProcessOf(worker));
    memory.workers_peak_rss_bytes = Highest(SumOf(run_, counters_, workers, "host.rss"));
    const Series pss = SumOf(run_, counters_, workers, "host.pss");
    if (!pss.empty()) memory.workers_peak_pss_bytes = Highest(pss);
    // A fork counts its parent's pages as its own from the start. Only its PSS shows what it really adds.
    memory.workers_growth = GrowthOf(pss);
    if (!memory.workers_growth.has_value())
      memory.workers_growth = GrowthOf(SumOf(run_, counters_, workers, "host.rss"));
    memory.shm_peak_bytes = Highest(counters_.Of(main_, "host.shm_used"));
    memory.shm_size_bytes = Highest(counters_.Of(main_, "host.shm_size"));
    return memory;
  }

 private:
  [[nodiscard]] HostProcess ProcessOf(ProcessIndex index) const {
    const trace::Metadata& metadata = run_.source->metadata();
    const auto role = metadata.find("process." + std::to_string(index) + ".role");
    HostProcess process;
    process.pid = run_.processes[index].info.pid;
    process.role = role == metadata.end() ? "" : role->second;
    const Series& rss = counters_.Of(index, "host.rss");
    // The kernel's own peak includes memory that came and went between two samples.
    process.peak_rss_bytes = std::max(Highest(rss), Highest(counters_.Of(index, "host.rss_peak")));
    process.peak_shared_bytes = Highest(counters_.Of(index, "host.rss_shared"));
    const Series& pss = counters_.Of(index, "host.pss");
    if (!pss.empty()) process.peak_pss_bytes = Highest(pss);
    process.growth = GrowthOf(rss);
    return process;
  }

  [[nodiscard]] std::vector<ProcessIndex> Descendants() const {
    std::vector<ProcessIndex> found;
    std::vector<uint32_t> pids = {run_.processes[main_].info.pid};
    for (ProcessIndex i = 0; i < run_.processes.size(); ++i) {
      const trace::ProcessInfo& info = run_.processes[i].info;
      if (i == main_ || std::find(pids.begin(), pids.end(), info.parent_pid) == pids.end()) continue;
      pids.push_back(info.pid);
      found.push_back(i);
    }
    return found;
  }

  [[nodiscard]] std::optional<PinnedHostMemory> Pinned() const {
    for (const model::PinnedMemory& from : run_.driver.pinned) {
      if (from.process != main_) continue;
      PinnedHostMemory pinned;
      for (const model::Since& since : from.bytes)
        pinned.peak_bytes = std::max(pinned.peak_bytes, static_cast<uint64_t>(since.value));
      for (const model::Since& since : from.by_pytorch)
        pinned.peak_pytorch_bytes = std::max(pinned.peak_pytorch_bytes, static_cast<uint64_t>(since.value));
      return pinned;
    }
    return std::nullopt;
  }

  // From the end of the first step, when one-time allocations are done, to the end of the last. A process
  // that does not train grows while it starts, and it is unknown when it has finished.
  [[nodiscard]] std::optional<Growth> GrowthOf(const Series& series) const {
    if (steps_.size() < 2) return std::nullopt;
    const uint64_t begin_ns = run_.times.TimeOf(steps_.front().end);
    const uint64_t end_ns = run_.times.TimeOf(steps_.back().end);
    const std::optional<uint64_t> bytes = FindGrowth(series, begin_ns, end_ns);
    if (!bytes.has_value()) return std::nullopt;
    // The medians of the first and the last part are three quarters of the time apart.
    const double steps = static_cast<double>(steps_.size() - 1) * (kParts - 1) / kParts;
    return Growth{*bytes, static_cast<uint64_t>(static_cast<double>(*bytes) / steps)};
  }

  const model::Run& run_;
  ProcessIndex main_;
  const std::vector<timeline::Step>& steps_;
  Counters counters_;
};

}  // namespace

std::optional<uint64_t> FindGrowth(const std::vector<TimedValue>& values, uint64_t begin_ns,
                                   uint64_t end_ns) {
  if (end_ns <= begin_ns) return std::nullopt;
  std::array<std::vector<uint64_t>, kParts> parts;
  size_t count = 0;
  for (const TimedValue& value : values) {
    if (value.time_ns < begin_ns || value.time_ns > end_ns) continue;
    const auto part = static_cast<size_t>(static_cast<double>(value.time_ns - begin_ns) /
                                          static_cast<double>(end_ns - begin_ns) * kParts);
    parts[std::min(part, kParts - 1)].push_back(value.value);
    ++count;
  }
  if (count < kFewestValues) return std::nullopt;
  std::array<uint64_t, kParts> medians = {};
  for (size_t i = 0; i < kParts; ++i) {
    if (parts[i].empty()) return std::nullopt;
    medians[i] = Median(parts[i]);
    if (i > 0 && medians[i] <= medians[i - 1]) return std::nullopt;
  }
  const uint64_t growth = medians.back() - medians.front();
  const bool counts = growth >= kLeastGrowth && growth * 100 >= medians.front() * kLeastGrowthPercent;
  return counts ? std::optional(growth) : std::nullopt;
}

std::optional<HostMemory> FindHostMemory(const model::Run& run, ProcessIndex main,
                                         const timeline::Training& training) {
  if (main >= run.processes.size()) return std::nullopt;
  return Finder(run, main, training).Find();
}

}  // namespace vramscope::report
