// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/history.h"

#include <algorithm>
#include <string_view>

#include "profiler/snapshot/free_halves.h"
#include "profiler/snapshot/time_axis.h"

namespace vramscope::snapshot {
namespace {

static_assert(static_cast<int>(Action::kAlloc) == static_cast<int>(allocator::Action::kAlloc));
static_assert(static_cast<int>(Action::kOom) == static_cast<int>(allocator::Action::kOutOfMemory));

// The index of a value in a short list; adds the value if it is new.
template <typename T>
uint32_t IndexIn(std::vector<T>* known, const T& value, size_t most) {
  const auto found = std::find(known->begin(), known->end(), value);
  if (found != known->end()) return static_cast<uint32_t>(found - known->begin());
  if (known->size() < most) known->push_back(value);
  return static_cast<uint32_t>(known->size() - 1);
}

allocator::BlockUse UseOf(BlockState state) {
  switch (state) {
    case BlockState::kAllocated:
      return allocator::BlockUse::kAllocated;
    case BlockState::kPendingFree:
      return allocator::BlockUse::kPendingFree;
    case BlockState::kInactive:
      break;
  }
  return allocator::BlockUse::kFree;
}

bool HasKey(std::string_view settings, std::string_view key) {
  for (size_t at = settings.find(key); at != std::string_view::npos; at = settings.find(key, at + 1)) {
    const std::string_view before = settings.substr(0, at), after = settings.substr(at + key.size());
    const bool begins = before.empty() || before.back() == ',' || before.back() == ' ';
    if (begins && after.find_first_not_of(' ') < after.size() && after[after.find_first_not_of(' ')] == ':')
      return true;
  }
  return false;
}

// Combines PYTORCH_CUDA_ALLOC_CONF with what PyTorch keeps of earlier settings. The text is only that of the
// last call of _set_allocator_settings; the parsed values are the effective ones.
std::string SettingsOf(const Snapshot& snapshot) {
  std::string text;
  for (const Setting& setting : snapshot.settings) {
    if (setting.key == "PYTORCH_CUDA_ALLOC_CONF" && setting.is_text) text = setting.value;
  }
  std::string kept;
  const auto keep = [&](std::string_view key, const std::string& value) {
    if (HasKey(text, key)) return;
    kept += kept.empty() ? "" : ",";
    kept.append(key).append(":").append(value);
  };
  std::string divisions;
  bool divided = false;
  constexpr std::string_view kDivisions = "roundup_power2_divisions.";
  for (const Setting& setting : snapshot.settings) {
    if (setting.key == "expandable_segments" && setting.value == "True") keep(setting.key, "True");
    const bool is_number = !setting.value.empty() && setting.value.size() < 19 &&
                           setting.value.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number) continue;
    const uint64_t number = std::stoull(setting.value);
    const uint64_t mib = number >> 20;
    if (setting.key == "max_split_size" && mib > 0) keep("max_split_size_mb", std::to_string(mib));
    if (setting.key == "large_segment_size" && mib > 0 && mib != 20)
      keep("large_segment_size_mb", std::to_string(mib));
    if (!setting.key.starts_with(kDivisions)) continue;
    divided |= number > 1;
    divisions += (divisions.empty() ? "" : ",") + setting.key.substr(kDivisions.size()) + ":" + setting.value;
  }
  if (divided) keep("roundup_power2_divisions", "[" + divisions + "]");
  if (text.empty() || kept.empty()) return text + kept;
  return kept + "," + text;
}

class Filling {
 public:
  Filling(const Snapshot& snapshot, uint32_t device)
      : snapshot_(snapshot), axis_(snapshot), device_(device) {}

  DeviceHistory Run() {
    history_.device = static_cast<int>(device_);
    FindOrigins();
    for (const Segment& segment : snapshot_.segments) {
      if (segment.device == device_) Add(segment);
    }
    if (device_ < snapshot_.device_traces.size()) AddEvents();
    history_.has_segments = snapshot_.has_segments;
    history_.settings = SettingsOf(snapshot_);
    return std::move(filled_);
  }

 private:
  // Streams and pools are few. All beyond this number count as the last one.
  static constexpr size_t kMostNames = 1024;

  struct Place {
    allocator::StreamIndex stream = 0;
    allocator::PoolIndex pool = allocator::kUnknownPool;
  };

  allocator::PoolIndex PoolOf(bool known, const PoolId& pool) {
    if (!known) return allocator::kUnknownPool;
    return static_cast<allocator::PoolIndex>(IndexIn(&history_.pools, {pool.first, pool.second}, kMostNames));
  }

  void FindOrigins() {
    places_.reserve(snapshot_.origins.size());
    for (const Origin& origin : snapshot_.origins) {
      places_.push_back(
          {IndexIn(&history_.streams, origin.stream, kMostNames), PoolOf(origin.has_pool, origin.pool)});
    }
  }

  void AddEvents() {
    const FreeHalves told(snapshot_, device_);
    history_.events.reserve(snapshot_.event_count(device_));
    filled_.numbers.reserve(snapshot_.event_count(device_));
    uint32_t number = 0;
    ForEachEvent(snapshot_, device_, [&](const Event& event) {
      const uint32_t this_one = number++;
      if (event.action > Action::kOom) return;
      if (!told.requests() && event.action == Action::kFreeCompleted)
        Add(event, Action::kFreeRequested, this_one);
      Add(event, event.action, this_one);
      if (told.CompletesAtOnce(event, this_one)) Add(event, Action::kFreeCompleted, this_one);
    });
  }

  void Add(const Event& from, Action action, uint32_t number) {
    allocator::Event event;
    event.address = from.address;
    event.bytes = from.bytes;
    last_ns_ = std::max(last_ns_, axis_.TimeOf(from, device_, number));
    event.time_ns = last_ns_;
    event.stream = places_[from.origin].stream;
    event.pool = places_[from.origin].pool;
    event.action = static_cast<allocator::Action>(action);
    history_.events.push_back(event);
    filled_.numbers.push_back(number);
  }

  void Add(const Segment& from) {
    allocator::SegmentState segment;
    segment.address = from.address;
    segment.bytes = from.bytes;
    segment.stream = IndexIn(&history_.streams, from.stream, kMostNames);
    segment.pool = from.has_pool ? PoolOf(true, from.pool) : allocator::kDefaultPool;
    segment.large = from.large;
    segment.expandable = from.expandable;
    segment.blocks.reserve(from.blocks.size());
    for (const Block& block : from.blocks) {
      const uint64_t requested = block.requested_bytes == kUnknown ? 0 : block.requested_bytes;
      segment.blocks.push_back({block.address, block.bytes, requested, UseOf(block.state)});
    }
    history_.segments.push_back(std::move(segment));
  }

  const Snapshot& snapshot_;
  TimeAxis axis_;
  uint32_t device_;
  DeviceHistory filled_;
  allocator::History& history_ = filled_.history;
  std::vector<Place> places_;
  uint64_t last_ns_ = 0;
};

}  // namespace

DeviceHistory ReadHistory(const Snapshot& snapshot, uint32_t device) {
  return Filling(snapshot, device).Run();
}

}  // namespace vramscope::snapshot
