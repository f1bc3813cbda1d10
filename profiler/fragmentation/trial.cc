// SPDX-License-Identifier: Apache-2.0
#include "profiler/fragmentation/trial.h"

#include <algorithm>
#include <vector>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/initial_state.h"
#include "profiler/model/flat_map.h"

namespace vramscope::fragmentation {
namespace {

using allocator::Action;
using allocator::Event;
using allocator::History;

constexpr uint64_t kGranule = 2 * kMiB;  // of what the driver gives

// A device of a given size whose addresses are never used twice: only ties between free blocks of one size
// depend on them, and PyTorch breaks those by address.
class RoomDriver : public allocator::Driver {
 public:
  explicit RoomDriver(uint64_t room, uint64_t first_address) : left_(room), next_(first_address) {}

  uint64_t AllocateSegment(uint64_t bytes) override {
    if (bytes > left_) return 0;
    left_ -= bytes;
    return Addresses(bytes);
  }
  void FreeSegment(uint64_t, uint64_t bytes) override { left_ += bytes; }
  uint64_t ReserveAddresses(uint64_t bytes) override { return Addresses(bytes); }
  void ReleaseAddresses(uint64_t, uint64_t) override {}
  bool MapPages(uint64_t, uint64_t bytes, uint64_t) override {
    if (bytes > left_) return false;
    left_ -= bytes;
    return true;
  }
  void UnmapPages(uint64_t, uint64_t bytes) override { left_ += bytes; }
  uint64_t FreeBytes() override { return left_; }

  // For segments that are there at the begin.
  void Take(uint64_t bytes) { left_ -= std::min(left_, bytes); }

 private:
  uint64_t Addresses(uint64_t bytes) {
    const uint64_t address = next_;
    next_ += (bytes + kGranule - 1) / kGranule * kGranule;
    return address;
  }

  uint64_t left_;
  uint64_t next_;
};

class TrialRun {
 public:
  TrialRun(const History& history, const allocator::Release& release, const allocator::Settings& settings,
           uint64_t room)
      : history_(history),
        driver_(room, BehindAll(history)),
        model_(release, settings, history.device_bytes != 0 ? history.device_bytes : room, driver_) {
    for (size_t i = 1; i < history.streams.size(); ++i) (void)model_.AddStream(history.streams[i]);
    for (size_t i = 1; i < history.pools.size(); ++i) (void)model_.AddPool();
  }

  Status Begin() {
    if (history_.complete) return {};
    const allocator::InitialState state = allocator::InitialStateOf(history_, model_);
    if (state.contradiction.has_value()) {
      return Error{"the history contradicts itself: " + state.contradiction->sentence};
    }
    for (const allocator::SegmentState& segment : state.segments) {
      driver_.Take(segment.bytes);
      for (const allocator::BlockState& block : segment.blocks) {
        if (block.use != allocator::BlockUse::kFree) Remember(block.address, block.address);
      }
    }
    allocator::Adopt(state, &model_);
    return {};
  }

  Trial Run(Moment failure) {
    Trial trial;
    for (Moment i = 0; i < failure; ++i) {
      const Event& event = history_.events[i];
      if (event.action == Action::kAlloc && !Allocate(event)) {
        trial.end = TrialEnd::kFailsBefore;
        trial.failed_at = i;
        return Finish(trial);
      }
      if (event.action == Action::kFreeRequested) RequestFree(event, i);
      if (event.action == Action::kFreeCompleted) CompleteFree(event);
    }
    trial.end = Allocate(history_.events[failure]) ? TrialEnd::kFits : TrialEnd::kFails;
    return Finish(trial);
  }

 private:
  static uint64_t BehindAll(const History& history) {
    uint64_t end = kGranule;
    for (const Event& event : history.events) {
      const bool segment = event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap;
      if (segment) end = std::max(end, event.address + event.bytes);
    }
    for (const allocator::SegmentState& segment : history.segments)
      end = std::max(end, segment.address + segment.bytes);
    return (end / kGranule + 1) * kGranule;
  }

  Trial Finish(Trial trial) {
    trial.reserved = model_.statistics().all.reserved_bytes.current;
    trial.driver_free = driver_.FreeBytes();
    return trial;
  }

  allocator::PoolIndex PoolOf(const Event& event) const {
    return event.pool == allocator::kUnknownPool ? allocator::kDefaultPool : event.pool;
  }

  void Remember(uint64_t recorded, uint64_t modelled) {
    const auto place = here_.Insert(recorded, 0);
    if (!place.fresh) addresses_[*place.value] = modelled;
    if (place.fresh) {
      *place.value = static_cast<uint32_t>(addresses_.size());
      addresses_.push_back(modelled);
    }
  }

  bool Allocate(const Event& event) {
    if (event.bytes == 0) return true;
    const auto address = model_.Malloc(event.bytes, event.stream, PoolOf(event));
    if (address.has_value() && event.action == Action::kAlloc && event.address != 0)
      Remember(event.address, *address);
    return address.has_value();
  }

  void RequestFree(const Event& event, Moment index) {
    const uint32_t* known = event.address == 0 ? nullptr : here_.Find(event.address);
    if (known == nullptr) return;
    const bool at_once = index + 1 < history_.events.size() &&
                         history_.events[index + 1].action == Action::kFreeCompleted &&
                         history_.events[index + 1].address == event.address;
    (void)(at_once ? model_.Free(addresses_[*known]) : model_.FreeLater(addresses_[*known]));
  }

  // Nothing happens when the free was complete already, or a failing request has waited for it.
  void CompleteFree(const Event& event) {
    const uint32_t* known = event.address == 0 ? nullptr : here_.Find(event.address);
    if (known != nullptr) (void)model_.CompleteFree(addresses_[*known]);
  }

  const History& history_;
  RoomDriver driver_;
  allocator::DeviceAllocator model_;
  model::FlatMap here_;  // recorded address -> index of the modelled one
  std::vector<uint64_t> addresses_;
};

std::string KeyOf(const std::string& setting) { return setting.substr(0, setting.find(':')); }

// Settings are divided by commas outside of brackets.
std::vector<std::string> Split(const std::string& settings) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : settings) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ') {
      parts.back() += c;
    }
  }
  return parts;
}

}  // namespace

std::string WithSetting(const std::string& base, const std::string& setting) {
  std::string all;
  for (const std::string& part : Split(base)) {
    if (part.empty() || KeyOf(part) == KeyOf(setting)) continue;
    all += part + ",";
  }
  return all + setting;
}

Result<Trial> TrySettings(const History& history, Moment failure, uint64_t room, const std::string& text) {
  const allocator::Release& release = allocator::ReleaseOf(history.torch_version);
  const Result<allocator::Settings> settings = allocator::ParseSettings(text, release);
  if (!settings.ok()) return settings.error();
  if (settings->cuda_malloc_async) return Error{"the backend cudaMallocAsync has no segments to model."};
  TrialRun run(history, release, *settings, room);
  const Status begun = run.Begin();
  if (!begun.ok()) return begun.error();
  Trial trial = run.Run(failure);
  trial.settings = text;
  return trial;
}

}  // namespace vramscope::fragmentation
