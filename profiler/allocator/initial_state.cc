// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/initial_state.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_set>

#include "profiler/allocator/sizing.h"
#include "profiler/model/flat_map.h"

namespace vramscope::allocator {
namespace {

// The runs of one expandable segment have the same owner.
auto OwnerOf(const SegmentState& run) { return std::tuple(run.stream, run.pool, run.large); }
auto OwnerOf(const ExpandableRange& range) { return std::tuple(range.stream, range.pool, range.large); }

class Undo {
 public:
  Undo(const History& history, const Settings& settings, const Release& release, uint64_t device_bytes)
      : history_(history), settings_(settings), release_(release), device_bytes_(device_bytes) {}

  InitialState Run() {
    FindSegments();
    FindMappedRuns();
    FindBlocks();
    PlaceBlocks();
    FindSlack();
    FillGaps();
    FindRanges();
    state_.blocks = placed_;
    return std::move(state_);
  }

 private:
  struct Found {
    BlockState block;  // 0 bytes = unknown
    StreamIndex stream;
    uint64_t event;
  };
  // A block of a large segment whose size has only a lower bound, and the end of the free space after it.
  struct Unsure {
    size_t segment;
    size_t block;
    uint64_t address;
    uint64_t end;
    bool settled = false;
  };

  void Contradict(uint64_t event, std::string sentence) {
    if (!state_.contradiction) state_.contradiction = Contradiction{event, std::move(sentence)};
  }

  // Segments from cudaMalloc.
  void FindSegments() {
    std::unordered_set<uint64_t> taken;
    for (const Event& event : history_.events) {
      if (event.action == Action::kSegmentAlloc) taken.insert(event.address);
      if (event.action != Action::kSegmentFree || taken.erase(event.address) != 0) continue;
      if (!IsMemory(event.address, event.bytes)) continue;
      SegmentState segment;
      segment.address = event.address;
      segment.bytes = event.bytes;
      segment.stream = event.stream;
      segment.pool = event.pool == kUnknownPool ? kDefaultPool : event.pool;
      segment.large = event.bytes != kSmallSegmentBytes;
      state_.segments.push_back(std::move(segment));
    }
    for (const SegmentState& segment : history_.segments) {
      if (segment.expandable || taken.contains(segment.address)) continue;
      if (!IsMemory(segment.address, segment.bytes)) continue;
      state_.segments.push_back(segment);
      state_.segments.back().blocks.clear();
    }
  }

  // Mapped pages of expandable segments. Starts from the pages at the end and undoes the events in reverse.
  void FindMappedRuns() {
    std::map<uint64_t, SegmentState> runs;
    for (const SegmentState& segment : history_.segments) {
      if (segment.expandable && IsMemory(segment.address, segment.bytes)) runs[segment.address] = segment;
    }
    for (size_t i = history_.events.size(); i-- > 0;) {
      const Event& event = history_.events[i];
      if (!IsMemory(event.address, event.bytes)) continue;
      if (event.action == Action::kSegmentUnmap) AddRun(&runs, event);
      if (event.action == Action::kSegmentMap) CutRun(&runs, event, i);
    }
    for (auto& [address, run] : runs) {
      run.blocks.clear();
      state_.segments.push_back(std::move(run));
    }
    std::sort(state_.segments.begin(), state_.segments.end(),
              [](const SegmentState& a, const SegmentState& b) { return a.address < b.address; });
  }

  void AddRun(std::map<uint64_t, SegmentState>* runs, const Event& event) {
    SegmentState run;
    run.address = event.address;
    run.bytes = event.bytes;
    run.stream = event.stream;
    run.pool = event.pool == kUnknownPool ? kDefaultPool : event.pool;
    run.expandable = true;
    // One event may unmap several pages, each of 2 MiB (small) or of the large segment's size.
    run.large = event.bytes % settings_.large_segment_bytes == 0;
    auto next = runs->lower_bound(event.address);
    if (next != runs->end() && next->first == event.address + event.bytes) {
      run.bytes += next->second.bytes;
      run.large = next->second.large;
      next = runs->erase(next);
    }
    if (next != runs->begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second.bytes == event.address) {
        before->second.bytes += run.bytes;
        return;
      }
    }
    (*runs)[run.address] = run;
  }

  void CutRun(std::map<uint64_t, SegmentState>* runs, const Event& event, uint64_t index) {
    auto run = runs->upper_bound(event.address);
    const uint64_t end = event.address + event.bytes;
    if (run == runs->begin() || end > std::prev(run)->first + std::prev(run)->second.bytes) {
      return Contradict(index, "it maps pages at " + Hex(event.address) +
                                   " that are not mapped at the end and were never unmapped");
    }
    run = std::prev(run);
    SegmentState rest = run->second;
    rest.bytes = run->first + run->second.bytes - end;
    rest.address = end;
    run->second.bytes = event.address - run->first;
    if (run->second.bytes == 0) runs->erase(run);
    if (rest.bytes != 0) (*runs)[rest.address] = rest;
  }

  // Blocks in use before the first event.
  void FindBlocks() {
    enum State : uint32_t { kHeld, kFreed };
    model::FlatMap held;
    for (size_t i = 0; i < history_.events.size(); ++i) {
      const Event& event = history_.events[i];
      if (event.address == 0 || event.action > Action::kFreeCompleted) continue;
      if (event.action == Action::kAlloc) {
        if (!held.Insert(event.address, kHeld).fresh)
          Contradict(i, "it allocates at " + Hex(event.address) + ", where a block is still in use");
        continue;
      }
      const bool requested = event.action == Action::kFreeRequested;
      const auto [state, fresh] = held.Insert(event.address, kFreed);
      if (fresh) {
        const BlockUse use = requested ? BlockUse::kAllocated : BlockUse::kPendingFree;
        found_.push_back({{event.address, 0, event.bytes, use}, event.stream, i});
      } else if (*state == (requested ? kFreed : kHeld)) {
        Contradict(i, requested ? "it frees the block at " + Hex(event.address) + " a second time"
                                : "the free of the block at " + Hex(event.address) +
                                      " completes without having been requested");
      }
      *state = kFreed;
      if (!requested) held.Erase(event.address);
    }
    for (const SegmentState& segment : history_.segments) {
      for (const BlockState& block : segment.blocks) {
        if (block.use == BlockUse::kFree || held.Find(block.address) != nullptr) continue;
        found_.push_back({block, segment.stream, history_.events.size()});
      }
    }
    if (!TellsRequests()) {
      for (Found& found : found_) {
        if (found.block.bytes == 0) found.block.use = BlockUse::kAllocated;
      }
    }
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.block.address < b.block.address; });
  }

  // False for early releases, which record only completed frees. Then it is unknown which frees were pending.
  [[nodiscard]] bool TellsRequests() const {
    return std::any_of(history_.events.begin(), history_.events.end(),
                       [](const Event& event) { return event.action == Action::kFreeRequested; });
  }

  void PlaceBlocks() {
    auto found = found_.begin();
    for (SegmentState& segment : state_.segments) {
      for (; found != found_.end() && found->block.address < segment.address; ++found) Homeless(*found);
      const uint64_t end = segment.address + segment.bytes;
      for (; found != found_.end() && found->block.address < end; ++found) {
        const auto next = std::next(found);
        const uint64_t room =
            std::min(end, next == found_.end() ? end : next->block.address) - found->block.address;
        Place(*found, room, &segment);
      }
    }
    for (; found != found_.end(); ++found) Homeless(*found);
  }

  void Homeless(const Found& found) {
    Contradict(found.event, "the block at " + Hex(found.block.address) + " lies in no segment");
  }

  void Place(const Found& found, uint64_t room, SegmentState* segment) {
    BlockState block = found.block;
    const bool known = block.bytes != 0;
    if (!known) block.bytes = RoundedSize(block.requested_bytes, settings_, release_);
    if (block.bytes > room) {
      Contradict(found.event, "the block of " + std::to_string(block.bytes) + " bytes at " +
                                  Hex(block.address) + " has room for " + std::to_string(room));
      block.bytes = room;
      if (room == 0) return;
    }
    const bool may_have_slack = !known && segment->large && !segment->expandable;
    if (may_have_slack && !IsSplit(room, block.bytes, false, false, settings_)) block.bytes = room;
    segment->blocks.push_back(block);
    ++placed_;
    if (may_have_slack && block.bytes < room)
      unsure_.push_back({static_cast<size_t>(segment - state_.segments.data()), segment->blocks.size() - 1,
                         block.address, block.address + room});
  }

  // The first block placed in the free space after a block begins where that block ends.
  void FindSlack() {
    size_t open = unsure_.size();
    for (const Event& event : history_.events) {
      if (open == 0) return;
      if (event.action != Action::kAlloc && event.action != Action::kFreeRequested) continue;
      auto at = std::upper_bound(unsure_.begin(), unsure_.end(), event.address,
                                 [](uint64_t a, const Unsure& p) { return a < p.address; });
      if (at == unsure_.begin()) continue;
      Unsure& place = *std::prev(at);
      if (place.settled || event.address >= place.end) continue;
      if (event.action == Action::kFreeRequested && event.address != place.address) continue;
      BlockState& block = state_.segments[place.segment].blocks[place.block];
      if (event.action == Action::kAlloc && event.address >= block.address + block.bytes)
        block.bytes = event.address - block.address;
      place.settled = true;
      --open;
    }
  }

  // Adds free blocks between those in use.
  void FillGaps() {
    for (SegmentState& segment : state_.segments) {
      std::vector<BlockState> all;
      uint64_t at = segment.address;
      for (const BlockState& block : segment.blocks) {
        if (block.address > at) all.push_back({at, block.address - at, 0, BlockUse::kFree});
        all.push_back(block);
        at = block.address + block.bytes;
      }
      const uint64_t end = segment.address + segment.bytes;
      if (at < end) all.push_back({at, end - at, 0, BlockUse::kFree});
      segment.blocks = std::move(all);
    }
  }

  // Runs with the same owner that lie less than one reservation apart belong to one range. The range begins
  // at the lowest page ever mapped there.
  void FindRanges() {
    const uint64_t page = settings_.large_segment_bytes;
    const uint64_t bytes = RoundUp(device_bytes_ + device_bytes_ / 8, page);
    std::vector<std::pair<StreamIndex, uint64_t>> mapped;
    for (const Event& event : history_.events) {
      const bool maps = event.action == Action::kSegmentMap && IsMemory(event.address, event.bytes);
      if (maps) mapped.emplace_back(event.stream, event.address);
    }
    std::sort(mapped.begin(), mapped.end());
    std::map<std::tuple<StreamIndex, PoolIndex, bool>, size_t> newest;  // an owner's highest range so far
    for (const SegmentState& run : state_.segments) {
      if (!run.expandable) continue;
      const auto [known, fresh] = newest.try_emplace(OwnerOf(run), state_.ranges.size());
      if (!fresh && run.address - state_.ranges[known->second].address < bytes) continue;
      known->second = state_.ranges.size();
      const uint64_t end = run.address + run.bytes;
      const uint64_t lowest = end > bytes ? end - bytes : 0;
      const auto below = std::lower_bound(mapped.begin(), mapped.end(), std::pair(run.stream, lowest));
      const bool found = below != mapped.end() && below->first == run.stream && below->second < run.address;
      state_.ranges.push_back({found && !state_.contradiction ? below->second : run.address, bytes,
                               run.stream, run.pool, run.large});
    }
  }

  const History& history_;
  const Settings& settings_;
  const Release& release_;
  uint64_t device_bytes_;
  InitialState state_;
  std::vector<Found> found_;
  std::vector<Unsure> unsure_;
  uint64_t placed_ = 0;
};

}  // namespace

InitialState InitialStateOf(const History& history, const Settings& settings, const Release& release,
                            uint64_t device_bytes) {
  return Undo(history, settings, release, device_bytes).Run();
}

InitialState InitialStateOf(const History& history, const DeviceAllocator& model) {
  return InitialStateOf(history, model.settings(), model.release(), model.device_bytes());
}

void Adopt(const InitialState& state, DeviceAllocator* model) {
  std::map<std::tuple<StreamIndex, PoolIndex, bool>, std::vector<const SegmentState*>> runs;
  for (const SegmentState& segment : state.segments) {
    if (segment.expandable) {
      runs[OwnerOf(segment)].push_back(&segment);
    } else {
      model->Adopt(segment);
    }
  }
  for (const ExpandableRange& range : state.ranges) {
    const auto& all = runs[OwnerOf(range)];  // in order of address
    const auto below = [](const SegmentState* run, uint64_t address) { return run->address < address; };
    const auto first = std::lower_bound(all.begin(), all.end(), range.address, below);
    const auto last = std::lower_bound(first, all.end(), range.address + range.bytes, below);
    model->AdoptExpandable(range, {first, last});
  }
}

}  // namespace vramscope::allocator
