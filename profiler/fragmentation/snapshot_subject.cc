// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/snapshot_subject.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <map>
#include <utility>

#include "profiler/model/flat_map.h"

namespace vramscope::fragmentation {
namespace {

using allocator::History;
using snapshot::Snapshot;

// Streams and pools are few; what a file names beyond so many counts as the default one.
constexpr size_t kMostNames = 1024;

template <typename Id, typename Key>
Id IndexOf(std::vector<Key>& known, const Key& key) {
  const auto found = std::find(known.begin(), known.end(), key);
  if (found != known.end()) return static_cast<Id>(found - known.begin());
  if (known.size() >= kMostNames) return 0;
  known.push_back(key);
  return static_cast<Id>(known.size() - 1);
}

allocator::PoolIndex PoolOf(History& history, bool has_pool, const snapshot::PoolId& pool) {
  if (!has_pool) return allocator::kUnknownPool;
  return IndexOf<allocator::PoolIndex>(history.pools, allocator::PoolId{pool.first, pool.second});
}

std::optional<int64_t> Number(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// As PyTorch parsed them, which is what counts when they were changed in the running program.
Rules RulesOf(const Snapshot& snapshot) {
  Rules rules;
  constexpr std::string_view kDivisions = "roundup_power2_divisions.";
  for (const snapshot::Setting& setting : snapshot.settings) {
    const auto number = Number(setting.value);
    if (setting.key == "expandable_segments") rules.expandable_segments = setting.value == "True";
    if (!number.has_value() || *number < 0) continue;
    const auto bytes = static_cast<uint64_t>(*number);
    if (setting.key == "max_split_size") rules.max_split_bytes = bytes;
    if (setting.key == "large_segment_size" && bytes > kMadeToMeasureBytes) rules.large_segment_bytes = bytes;
    if (!setting.key.starts_with(kDivisions)) continue;
    const auto mib = Number(std::string_view(setting.key).substr(kDivisions.size()));
    if (!mib.has_value() || *mib <= 0) continue;
    const auto bucket = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(*mib)) - 1);
    if (bucket < kRoundingBuckets) rules.roundup_power2_divisions[bucket] = bytes;
  }
  return rules;
}

void AddSegments(const Snapshot& snapshot, uint32_t device, History& history) {
  history.has_segments = true;
  for (const snapshot::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    allocator::SegmentState state;
    state.address = segment.address;
    state.bytes = segment.bytes;
    state.stream = IndexOf<allocator::StreamIndex>(history.streams, segment.stream);
    const auto pool = PoolOf(history, segment.has_pool, segment.pool);
    state.pool = pool == allocator::kUnknownPool ? allocator::kDefaultPool : pool;
    state.large = segment.large;
    state.expandable = segment.expandable;
    for (const snapshot::Block& block : segment.blocks) {
      const bool requested_known = block.requested_bytes != snapshot::kUnknown;
      const auto use = block.state == snapshot::BlockState::kInactive    ? allocator::BlockUse::kFree
                       : block.state == snapshot::BlockState::kAllocated ? allocator::BlockUse::kAllocated
                                                                         : allocator::BlockUse::kPendingFree;
      state.blocks.push_back({block.address, block.bytes, requested_known ? block.requested_bytes : 0, use});
    }
    history.segments.push_back(std::move(state));
  }
}

struct Stacks {
  std::vector<snapshot::StackId> by_event;
  std::map<uint64_t, snapshot::StackId> by_address;  // of blocks that were there before the history
};

// Of PyTorch's events those that this room knows.
void AddEvents(const Snapshot& snapshot, uint32_t device, Subject& subject, Stacks& stacks) {
  History& history = subject.history;
  if (device >= snapshot.device_traces.size()) return;
  ForEachEvent(snapshot, device, [&](const snapshot::Event& event) {
    if (event.action > snapshot::Action::kOom) return;
    const snapshot::Origin& origin = snapshot.origins[event.origin];
    allocator::Event made;
    made.address = event.address;
    made.bytes = event.bytes;
    made.time_ns = event.time_us == snapshot::kUnknown ? 0 : event.time_us * 1000;
    made.stream = IndexOf<allocator::StreamIndex>(history.streams, origin.stream);
    made.pool = PoolOf(history, origin.has_pool, origin.pool);
    made.action = static_cast<allocator::Action>(event.action);
    history.events.push_back(made);
    stacks.by_event.push_back(event.stack);
  });
  subject.start_ns = history.events.empty() ? 0 : history.events.front().time_ns;
}

std::vector<std::string> Frames(const Snapshot& snapshot, snapshot::StackId stack) {
  std::vector<std::string> frames;
  for (const snapshot::FrameId id : snapshot.stacks.stack(stack)) {
    const snapshot::Frame& frame = snapshot.stacks.frame(id);
    std::string text(snapshot.Text(frame.function));
    const std::string_view file = snapshot.Text(frame.file);
    if (!file.empty() && file != "??")
      text += " (" + std::string(file) + ":" + std::to_string(frame.line) + ")";
    frames.push_back(std::move(text));
  }
  return frames;
}

void AddFailures(const Snapshot& snapshot, Subject& subject, const Stacks& stacks) {
  const auto& events = subject.history.events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].action != allocator::Action::kOutOfMemory) continue;
    Failure failure;
    failure.moment = i;
    failure.requested = events[i].bytes;
    failure.rounded = true;
    failure.driver_free = events[i].address;
    failure.stream = events[i].stream;
    if (events[i].pool != allocator::kUnknownPool) failure.pool = events[i].pool;
    failure.frames = Frames(snapshot, stacks.by_event[i]);
    subject.failures.push_back(std::move(failure));
  }
}

uint32_t ChooseDevice(const Snapshot& snapshot) {
  std::map<uint32_t, uint64_t> reserved;
  for (const snapshot::Segment& segment : snapshot.segments) reserved[segment.device] += segment.bytes;
  uint32_t best = 0;
  for (const auto& [device, bytes] : reserved) {
    if (bytes > reserved[best]) best = device;
  }
  if (!reserved.empty()) return best;
  for (uint32_t device = 0; device < snapshot.device_traces.size(); ++device) {
    if (snapshot.event_count(device) > snapshot.event_count(best)) best = device;
  }
  return best;
}

bool Has(const Snapshot& snapshot, uint32_t device) {
  const bool events = device < snapshot.device_traces.size() && snapshot.event_count(device) != 0;
  return events || std::any_of(snapshot.segments.begin(), snapshot.segments.end(),
                               [&](const snapshot::Segment& segment) { return segment.device == device; });
}

}  // namespace

Result<Subject> SubjectOf(std::shared_ptr<const Snapshot> snapshot, std::optional<uint32_t> wanted) {
  if (wanted.has_value() && !Has(*snapshot, *wanted)) {
    return Error{"this snapshot has nothing of cuda:" + std::to_string(*wanted) + "."};
  }
  const uint32_t device = wanted.value_or(
      snapshot->device_traces.empty() && snapshot->segments.empty() ? 0 : ChooseDevice(*snapshot));
  Subject subject;
  subject.source = "snapshot";
  subject.device = "cuda:" + std::to_string(device);
  subject.history.device = static_cast<int>(device);
  subject.rules = RulesOf(*snapshot);
  for (const snapshot::Setting& setting : snapshot->settings) {
    if (setting.key == "PYTORCH_CUDA_ALLOC_CONF") subject.history.settings = setting.value;
  }
  subject.has_layout = true;
  auto stacks = std::make_shared<Stacks>();
  AddEvents(*snapshot, device, subject, *stacks);
  AddSegments(*snapshot, device, subject.history);
  for (const snapshot::Segment& segment : snapshot->segments) {
    if (segment.device != device) continue;
    for (const snapshot::Block& block : segment.blocks) stacks->by_address[block.address] = block.stack;
  }
  AddFailures(*snapshot, subject, *stacks);
  subject.describe = [snapshot, stacks](const Block& block, Moment) {
    BlockText text;
    if (block.born != kBeforeHistory) {
      text.frames = Frames(*snapshot, stacks->by_event[block.born]);
    } else if (const auto found = stacks->by_address.find(block.address); found != stacks->by_address.end()) {
      text.frames = Frames(*snapshot, found->second);
    }
    return text;
  };
  return subject;
}

}  // namespace vramscope::fragmentation
