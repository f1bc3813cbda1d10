// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/rerun.h"

#include <algorithm>
#include <vector>

#include "profiler/allocator/bfc/bfc_replay.h"
#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/initial_state.h"
#include "profiler/allocator/sizing.h"
#include "profiler/model/flat_map.h"

namespace vramscope::allocator {
namespace {

// The size of the device. It determines the address range of an expandable segment. If it was not recorded,
// the requested capacity or a default is used.
uint64_t DeviceBytes(const History& history, const RerunRequest& request) {
  if (history.device_bytes != 0) return history.device_bytes;
  return request.capacity != ModeledDriver::kUnlimited ? request.capacity : kUnknownDeviceBytes;
}

class Rerunner {
 public:
  Rerunner(const History& history, const Release& release, const Settings& settings,
           const RerunRequest& request)
      : history_(history),
        request_(request),
        driver_(request.capacity, BehindAll(history)),
        model_(release, settings, DeviceBytes(history, request), driver_) {
    for (size_t i = 1; i < history.streams.size(); ++i) (void)model_.AddStream(history.streams[i]);
    for (size_t i = 1; i < history.pools.size(); ++i) (void)model_.AddPool();
  }

  RerunResult Run(const InitialState& initial) {
    if (request_.keep_earlier_segments) {
      Keep(initial);
    } else {
      AskAgain(initial);
    }
    const bool to_the_end = !request_.last_event.has_value();
    for (size_t i = 0; i < history_.events.size(); ++i) {
      Step(i);
      if (!to_the_end && (i == *request_.last_event || result_.first_failure)) break;
    }
    result_.statistics = model_.statistics();
    result_.peak.reserved_bytes = result_.statistics.all.reserved_bytes.peak;
    result_.driver_free = driver_.FreeBytes();
    return std::move(result_);
  }

 private:
  // The first address after everything in the history.
  static uint64_t BehindAll(const History& history) {
    constexpr uint64_t kFirst = uint64_t{1} << 40;
    uint64_t end = kFirst;
    const auto note = [&end](uint64_t address, uint64_t bytes) {
      if (IsMemory(address, bytes)) end = std::max(end, address + bytes);
    };
    for (const Event& event : history.events) {
      const bool segment = event.action == Action::kSegmentAlloc || event.action == Action::kSegmentMap;
      if (segment) note(event.address, event.bytes);
    }
    for (const SegmentState& segment : history.segments) note(segment.address, segment.bytes);
    return RoundUp(end, ModeledDriver::kGranule) + ModeledDriver::kGranule;
  }

  void Keep(const InitialState& initial) {
    for (const SegmentState& segment : initial.segments) {
      driver_.Hold(segment.bytes);
      for (const BlockState& block : segment.blocks) {
        if (block.use == BlockUse::kAllocated) placed_.Set(block.address, block.address);
        if (block.use == BlockUse::kPendingFree) pending_.Set(block.address, block.address);
      }
    }
    Adopt(initial, &model_);
  }

  void AskAgain(const InitialState& initial) {
    for (const SegmentState& segment : initial.segments) {
      for (const BlockState& block : segment.blocks) {
        if (block.use == BlockUse::kFree) continue;
        Allocate(block.address, block.requested_bytes != 0 ? block.requested_bytes : block.bytes,
                 segment.stream, segment.pool, 0);
        if (block.use == BlockUse::kPendingFree) Free(block.address, true);
      }
    }
  }

  void Step(size_t i) {
    const Event& event = history_.events[i];
    switch (event.action) {
      case Action::kOutOfMemory:
        if (i != request_.last_event) return;  // the model decides which requests fail
        [[fallthrough]];
      case Action::kAlloc:
        return Allocate(event.address, event.bytes, event.stream,
                        event.pool == kUnknownPool ? kDefaultPool : event.pool, i);
      case Action::kFreeRequested: {
        const bool at_once = i + 1 < history_.events.size() &&
                             history_.events[i + 1].action == Action::kFreeCompleted &&
                             history_.events[i + 1].address == event.address;
        return Free(event.address, !at_once);
      }
      case Action::kFreeCompleted:
        return Complete(event.address);
      // The model decides about segments.
      default:
        return;
    }
  }

  void Allocate(uint64_t recorded, uint64_t bytes, StreamIndex stream, PoolIndex pool, uint64_t event) {
    if (bytes == 0) return;  // gets no block
    ++result_.requests;
    const auto address = model_.Malloc(bytes, stream, pool);
    if (!address) {
      ++result_.failed_requests;
      if (!result_.first_failure) result_.first_failure = event;
      return;
    }
    placed_.Set(recorded, *address);
    result_.peak.Note(model_.statistics().all, event);
  }

  void Free(uint64_t recorded, bool later) {
    const std::optional<uint64_t> placed = placed_.Take(recorded);
    if (!placed) return;
    if (later) {
      (void)model_.FreeLater(*placed);
      pending_.Set(recorded, *placed);
    } else {
      (void)model_.Free(*placed);
    }
  }

  // Does nothing if a wait of the model has already completed the free.
  void Complete(uint64_t recorded) {
    const std::optional<uint64_t> pending = pending_.Take(recorded);
    if (pending) (void)model_.CompleteFree(*pending);
  }

  // Maps recorded addresses to the model's.
  class Addresses {
   public:
    void Set(uint64_t recorded, uint64_t modeled) {
      if (recorded == 0) return;
      const auto place = numbers_.Insert(recorded, static_cast<uint32_t>(modeled_.size()));
      if (!place.fresh) {
        modeled_[*place.value] = modeled;
      } else if (spare_.empty()) {
        modeled_.push_back(modeled);
      } else {
        *place.value = spare_.back();
        spare_.pop_back();
        modeled_[*place.value] = modeled;
      }
    }
    std::optional<uint64_t> Take(uint64_t recorded) {
      const uint32_t* const number = recorded == 0 ? nullptr : numbers_.Find(recorded);
      if (number == nullptr) return std::nullopt;
      spare_.push_back(*number);
      numbers_.Erase(recorded);
      return modeled_[spare_.back()];
    }

   private:
    model::FlatMap numbers_;
    std::vector<uint64_t> modeled_;
    std::vector<uint32_t> spare_;
  };

  const History& history_;
  const RerunRequest& request_;
  ModeledDriver driver_;
  DeviceAllocator model_;
  Addresses placed_;   // of allocated blocks
  Addresses pending_;  // of blocks whose free has not completed
  RerunResult result_;
};

}  // namespace

Result<RerunResult> Rerun(const History& history, const RerunRequest& request) {
  if (history.model == Model::kBfc) return bfc::Rerun(history, request);
  const Release& release = ReleaseOf(history.torch_version);
  const Settings settings = VRAMSCOPE_TRY(ParseSettings(request.settings, release));
  if (settings.cuda_malloc_async)
    return Error{
        "backend:cudaMallocAsync has no segments; the driver manages its memory, which is not modeled."};
  const Result<Settings> recorded = ParseSettings(history.settings, release);
  InitialState initial;
  if (!history.complete) {
    initial = InitialStateOf(history, recorded.ok() ? *recorded : Settings{}, release,
                             DeviceBytes(history, request));
  }
  if (initial.contradiction) {
    return Error{"the history contradicts itself at event " + std::to_string(initial.contradiction->event) +
                 ": " + initial.contradiction->sentence + "."};
  }
  RerunResult result = Rerunner(history, release, settings, request).Run(initial);
  result.release = release.name;
  result.notes = settings.notes;
  if (initial.blocks != 0 && !request.keep_earlier_segments)
    result.notes.push_back("the recording begins in the middle of a run: the " +
                           std::to_string(initial.blocks) +
                           " blocks in use then were requested again in order of address");
  return result;
}

}  // namespace vramscope::allocator
