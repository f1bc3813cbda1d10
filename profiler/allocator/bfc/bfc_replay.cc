// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/bfc/bfc_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <unordered_map>
#include <utility>

namespace vramscope::allocator::bfc {
namespace {

constexpr uint64_t kNoLimit = uint64_t{1} << 62;
constexpr std::string_view kReleaseName = "2.21";

// Answers the model's region requests from the record: the regions allocated and freed during one request.
class RecordedRegions : public SubAllocator {
 public:
  explicit RecordedRegions(bool coalescing) : coalescing_(coalescing) {}

  void Recorded(const Event& event) { ahead_.push_back(event); }
  // True if the model allocated and freed exactly the recorded regions.
  [[nodiscard]] bool explained() const { return ahead_.empty() && !surprised_; }

  // The recorded region may be smaller than `bytes`: the device or the limit had no more.
  Region Allocate(uint64_t bytes) override {
    if (ahead_.empty() || ahead_.front().action != Action::kSegmentAlloc || ahead_.front().bytes > bytes)
      return {};
    const Event event = ahead_.front();
    ahead_.pop_front();
    return {event.address, event.bytes};
  }
  void Free(uint64_t address, uint64_t) override {
    const auto recorded = std::ranges::find_if(ahead_, [&](const Event& event) {
      return event.action == Action::kSegmentFree && event.address == address;
    });
    if (recorded == ahead_.end()) {
      surprised_ = true;
    } else {
      ahead_.erase(recorded);
    }
  }
  [[nodiscard]] bool SupportsCoalescing() const override { return coalescing_; }

 private:
  std::deque<Event> ahead_;
  bool surprised_ = false;
  bool coalescing_;
};

// A device of a given capacity. Its addresses only grow, and regions are never adjacent.
class DeviceRegions : public SubAllocator {
 public:
  explicit DeviceRegions(uint64_t capacity) : free_(capacity) {}

  Region Allocate(uint64_t bytes) override {
    if (bytes > free_) return {};
    free_ -= bytes;
    const Region region = {next_, bytes};
    next_ += (bytes + ModeledDriver::kGranule - 1) / ModeledDriver::kGranule * ModeledDriver::kGranule +
             ModeledDriver::kGranule;
    return region;
  }
  void Free(uint64_t, uint64_t bytes) override { free_ += bytes; }
  [[nodiscard]] bool SupportsCoalescing() const override { return false; }
  [[nodiscard]] uint64_t free() const { return free_; }

 private:
  uint64_t free_;
  uint64_t next_ = uint64_t{1} << 40;
};

void Follow(const bfc::Statistics& from, allocator::Statistics& to) {
  PoolStatistics& all = to.all;
  all.allocated_bytes.current = all.active_bytes.current = from.bytes_in_use;
  all.allocated_bytes.peak = all.active_bytes.peak = from.peak_bytes_in_use;
  all.reserved_bytes.current = from.pool_bytes;
  all.reserved_bytes.peak = from.peak_pool_bytes;
}

class Replayer {
 public:
  Replayer(const History& history, bool coalescing, BlockSizes* sizes)
      : history_(history), regions_(coalescing), model_(OptionsOf(history), regions_), sizes_(sizes) {
    if (sizes_ != nullptr) sizes_->by_event.assign(history.events.size(), 0);
  }

  ReplayResult Run() {
    result_.events_total = history_.events.size();
    for (size_t i = 0; i < history_.events.size() && !result_.first_divergence; ++i) {
      Step(history_.events[i], i);
      if (!result_.first_divergence) result_.events_exact = i + 1;
    }
    Follow(model_.statistics(), result_.statistics);
    result_.release = kReleaseName;
    return std::move(result_);
  }

 private:
  void Step(const Event& event, size_t i) {
    switch (event.action) {
      case Action::kSegmentAlloc:
      case Action::kSegmentFree:
        return regions_.Recorded(event);
      case Action::kAlloc:
        return Allocate(event, i);
      case Action::kFreeRequested:
        if (model_.Free(event.address)) return;
        Diverge(i, "nothing is allocated there");
        result_.first_divergence->contradiction = true;
        return;
      case Action::kOutOfMemory:
        if (const auto address = model_.Allocate(event.bytes)) Diverge(i, "a block at " + Hex(*address));
        return;
      default:
        return;
    }
  }

  void Allocate(const Event& event, size_t i) {
    const auto address = model_.Allocate(event.bytes);
    if (!address) return Diverge(i, "out of memory");
    if (!regions_.explained()) return Diverge(i, "other regions");
    if (*address != event.address) return Diverge(i, "a block at " + Hex(*address));
    if (sizes_ != nullptr) sizes_->by_event[i] = model_.ChunkBytes(*address);
    Follow(model_.statistics(), result_.statistics);
    result_.peak.Note(result_.statistics.all, i);
  }

  void Diverge(size_t i, std::string model) {
    Divergence divergence;
    divergence.event = i;
    divergence.recorded = Describe(history_.events[i]);
    divergence.model = std::move(model);
    divergence.allocated_bytes = model_.statistics().bytes_in_use;
    divergence.reserved_bytes = model_.statistics().pool_bytes;
    result_.first_divergence = std::move(divergence);
  }

  const History& history_;
  RecordedRegions regions_;
  BfcAllocator model_;
  BlockSizes* sizes_;
  ReplayResult result_;
};

class Rerunner {
 public:
  Rerunner(const History& history, const Options& options, const RerunRequest& request)
      : history_(history),
        request_(request),
        device_(std::min(options.memory_limit, request.capacity)),
        model_(options, device_) {}

  RerunResult Run() {
    for (size_t i = 0; i < history_.events.size(); ++i) {
      Step(history_.events[i], i);
      if (request_.last_event && (i == *request_.last_event || result_.first_failure)) break;
    }
    Follow(model_.statistics(), result_.statistics);
    result_.peak.reserved_bytes = model_.statistics().peak_pool_bytes;
    result_.driver_free = device_.free();
    result_.release = kReleaseName;
    return std::move(result_);
  }

 private:
  void Step(const Event& event, size_t i) {
    if (event.action == Action::kFreeRequested) return Free(event.address);
    const bool is_asked = event.action == Action::kOutOfMemory && i == request_.last_event;
    if (event.action == Action::kAlloc || is_asked) Allocate(event, i);
  }

  void Allocate(const Event& event, size_t i) {
    ++result_.requests;
    const auto address = model_.Allocate(event.bytes);
    if (!address) {
      ++result_.failed_requests;
      if (!result_.first_failure) result_.first_failure = i;
      return;
    }
    placed_[event.address] = *address;
    Follow(model_.statistics(), result_.statistics);
    result_.peak.Note(result_.statistics.all, i);
  }

  void Free(uint64_t recorded) {
    const auto placed = placed_.find(recorded);
    if (placed == placed_.end()) return;  // its request failed
    model_.Free(placed->second);
    placed_.erase(placed);
  }

  const History& history_;
  const RerunRequest& request_;
  DeviceRegions device_;
  BfcAllocator model_;
  std::unordered_map<uint64_t, uint64_t> placed_;  // by recorded address
  RerunResult result_;
};

std::optional<bool> Truth(std::string_view text) {
  if (text == "True" || text == "true" || text == "1") return true;
  if (text == "False" || text == "false" || text == "0") return false;
  return std::nullopt;
}

bool Set(std::string_view key, std::string_view value, Options& options) {
  if (key == "fragmentation_fraction") {
    const auto [end, error] =
        std::from_chars(value.data(), value.data() + value.size(), options.fragmentation_fraction);
    return error == std::errc() && end == value.data() + value.size() &&
           options.fragmentation_fraction >= 0 && options.fragmentation_fraction <= 1;
  }
  const std::optional<bool> truth = Truth(value);
  if (!truth) return false;
  if (key == "allow_growth") {
    options.allow_growth = *truth;
  } else if (key == "garbage_collection") {
    options.garbage_collection = *truth;
  } else {
    return false;
  }
  return true;
}

// The first region with growth: 2 MiB, doubled until the first request fits.
uint64_t FirstRegionOfGrowth(uint64_t request) {
  uint64_t bytes = uint64_t{2} << 20;
  while (bytes < BfcAllocator::Rounded(request)) bytes *= 2;
  return bytes;
}

}  // namespace

Options OptionsOf(const History& history) {
  Options options;
  options.memory_limit = history.device_bytes != 0 ? history.device_bytes : kNoLimit;
  uint64_t first_region = 0, first_request = 0;
  bool gave_back = false;
  for (const Event& event : history.events) {
    if (event.action == Action::kSegmentAlloc && first_region == 0) first_region = event.bytes;
    if (event.action == Action::kSegmentFree) gave_back = true;
    if (event.action != Action::kAlloc) continue;
    if (first_request == 0) first_request = event.bytes;
    options.garbage_collection |= gave_back;
  }
  if (first_region > FirstRegionOfGrowth(first_request)) {
    options.allow_growth = false;
    options.memory_limit = first_region;
  }
  return options;
}

Result<Options> WithSettings(const Options& base, std::string_view settings) {
  Options options = base;
  while (!settings.empty()) {
    const std::string_view one = settings.substr(0, settings.find(','));
    settings.remove_prefix(std::min(settings.size(), one.size() + 1));
    const size_t colon = std::min(one.find(':'), one.size());
    if (Set(one.substr(0, colon), one.substr(std::min(colon + 1, one.size())), options)) continue;
    return UsageError(
        fmt::format("\"{}\" is no setting of TensorFlow's allocator: allow_growth:True, "
                    "garbage_collection:True, fragmentation_fraction:0.1.",
                    one));
  }
  return options;
}

ReplayResult Replay(const History& history, BlockSizes* sizes) {
  ReplayResult result = Replayer(history, false, sizes).Run();
  if (result.exact()) return result;
  // Some sub-allocators merge adjacent regions. The record does not show which one was used, so try both.
  BlockSizes these;
  ReplayResult coalesced = Replayer(history, true, sizes == nullptr ? nullptr : &these).Run();
  if (coalesced.events_exact <= result.events_exact) return result;
  if (sizes != nullptr) *sizes = std::move(these);
  return coalesced;
}

Result<RerunResult> Rerun(const History& history, const RerunRequest& request) {
  Options options = VRAMSCOPE_TRY(WithSettings(OptionsOf(history), request.settings));
  if (request.capacity != ModeledDriver::kUnlimited) options.memory_limit = request.capacity;
  return Rerunner(history, options, request).Run();
}

}  // namespace vramscope::allocator::bfc
