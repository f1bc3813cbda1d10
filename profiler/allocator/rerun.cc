// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/rerun.h"

#include <unordered_map>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/initial_state.h"

namespace vramscope::allocator {
namespace {

// Only for recordings that do not say: the range of addresses of an expandable segment depends on it.
constexpr uint64_t kUnknownDeviceBytes = 80 * kGiB;

uint64_t DeviceBytes(const History& history, const RerunRequest& request) {
  if (history.device_bytes != 0) return history.device_bytes;
  return request.capacity != ModelledDriver::kUnlimited ? request.capacity : kUnknownDeviceBytes;
}

class Rerunner {
 public:
  Rerunner(const History& history, const Release& release, const Settings& settings,
           const RerunRequest& request)
      : history_(history),
        driver_(request.capacity),
        model_(release, settings, DeviceBytes(history, request), driver_) {
    for (size_t i = 1; i < history.streams.size(); ++i) (void)model_.AddStream(history.streams[i]);
    for (size_t i = 1; i < history.pools.size(); ++i) (void)model_.AddPool();
  }

  RerunResult Run(const InitialState& initial) {
    for (const SegmentState& segment : initial.segments) {
      for (const BlockState& block : segment.blocks) {
        if (block.use == BlockUse::kFree) continue;
        Allocate(block.address, block.requested_bytes != 0 ? block.requested_bytes : block.bytes,
                 segment.stream, segment.pool, 0);
        if (block.use == BlockUse::kPendingFree) Free(block.address, true);
      }
    }
    for (size_t i = 0; i < history_.events.size(); ++i) Step(i);
    result_.statistics = model_.statistics();
    result_.peak.reserved_bytes = result_.statistics.all.reserved_bytes.peak;
    return std::move(result_);
  }

 private:
  void Step(size_t i) {
    const Event& event = history_.events[i];
    switch (event.action) {
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
      default:
        return;  // segments and failures are the model's own
    }
  }

  void Allocate(uint64_t recorded, uint64_t bytes, StreamIndex stream, PoolIndex pool, uint64_t event) {
    ++result_.requests;
    const auto address = model_.Malloc(bytes, stream, pool);
    if (!address) {
      ++result_.failed_requests;
      if (!result_.first_failure) result_.first_failure = event;
      return;
    }
    placed_[recorded] = *address;
    const uint64_t allocated = model_.statistics().all.allocated_bytes.current;
    if (allocated > result_.peak.allocated_bytes)
      result_.peak.allocated_bytes = allocated, result_.peak.event = event;
  }

  void Free(uint64_t recorded, bool later) {
    const auto placed = placed_.find(recorded);
    if (placed == placed_.end()) return;
    if (later) {
      (void)model_.FreeLater(placed->second);
      pending_[recorded] = placed->second;
    } else {
      (void)model_.Free(placed->second);
    }
    placed_.erase(placed);
  }

  // A wait of the model may have completed it already.
  void Complete(uint64_t recorded) {
    const auto pending = pending_.find(recorded);
    if (pending == pending_.end()) return;
    const Block* const block = model_.Find(pending->second);
    if (block != nullptr && block->status == BlockStatus::kPendingFree)
      (void)model_.CompleteFree(pending->second);
    pending_.erase(pending);
  }

  const History& history_;
  ModelledDriver driver_;
  DeviceAllocator model_;
  std::unordered_map<uint64_t, uint64_t> placed_;   // recorded address -> the model's
  std::unordered_map<uint64_t, uint64_t> pending_;  // the same, of blocks whose free has not completed
  RerunResult result_;
};

}  // namespace

Result<RerunResult> Rerun(const History& history, const RerunRequest& request) {
  const Release& release = ReleaseOf(history.torch_version);
  const Result<Settings> settings = ParseSettings(request.settings, release);
  if (!settings.ok()) return settings.error();
  if (settings->cuda_malloc_async)
    return Error{
        "backend:cudaMallocAsync keeps no segments; its memory is the driver's own, which is not modelled."};
  const Result<Settings> recorded = ParseSettings(history.settings, release);
  InitialState initial;
  if (!history.complete) {
    ModelledDriver none;
    const DeviceAllocator as_recorded(release, recorded.ok() ? *recorded : Settings{},
                                      DeviceBytes(history, request), none);
    initial = InitialStateOf(history, as_recorded);
  }
  if (initial.contradiction) {
    return Error{"the history contradicts itself at event " + std::to_string(initial.contradiction->event) +
                 ": " + initial.contradiction->sentence + "."};
  }
  RerunResult result = Rerunner(history, release, *settings, request).Run(initial);
  result.release = release.name;
  result.notes = settings->notes;
  if (initial.blocks != 0)
    result.notes.push_back("the record begins in the middle of a run: the " + std::to_string(initial.blocks) +
                           " blocks in use then were asked for again in order of address");
  return result;
}

}  // namespace vramscope::allocator
