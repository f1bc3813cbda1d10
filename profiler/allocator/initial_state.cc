// SPDX-License-Identifier: Apache-2.0
#include "profiler/allocator/initial_state.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <unordered_set>

#include "profiler/model/flat_map.h"

namespace vramscope::allocator {
namespace {

constexpr uint64_t kSmallSegment = 2 * kMiB;
constexpr uint64_t kMaxSlack = kMiB;  // a rest of more than this is split off

std::string Hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

class Undo {
 public:
  Undo(const History& history, const DeviceAllocator& model) : history_(history), model_(model) {}

  InitialState Run() {
    FindSegments();
    FindMappedRuns();
    FindBlocks();
    if (!state_.contradiction) PlaceBlocks();
    if (!state_.contradiction) FindSlack();
    FillGaps();
    FindRanges();
    state_.blocks = placed_;
    return std::move(state_);
  }

 private:
  struct Found {
    BlockState block;  // 0 bytes = not known
    StreamIndex stream;
    uint64_t event;
  };
  // A block of a large segment whose size is known from below only, and the end of the free space behind it.
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

  // Segments of cudaMalloc.
  void FindSegments() {
    std::unordered_set<uint64_t> taken;
    for (const Event& event : history_.events) {
      if (event.action == Action::kSegmentAlloc) taken.insert(event.address);
      if (event.action != Action::kSegmentFree || taken.erase(event.address) != 0) continue;
      SegmentState segment;
      segment.address = event.address;
      segment.bytes = event.bytes;
      segment.stream = event.stream;
      segment.pool = event.pool == kUnknownPool ? kDefaultPool : event.pool;
      segment.large = event.bytes != kSmallSegment;
      state_.segments.push_back(std::move(segment));
    }
    for (const SegmentState& segment : history_.segments) {
      if (segment.expandable || taken.contains(segment.address)) continue;
      state_.segments.push_back(segment);
      state_.segments.back().blocks.clear();
    }
  }

  // Mapped pages of expandable segments: those of the end, events undone from the last to the first.
  void FindMappedRuns() {
    std::map<uint64_t, SegmentState> runs;
    for (const SegmentState& segment : history_.segments) {
      if (segment.expandable) runs[segment.address] = segment;
    }
    for (size_t i = history_.events.size(); i-- > 0;) {
      const Event& event = history_.events[i];
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
    run.large = event.bytes % model_.settings().large_segment_bytes == 0;
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

  // Blocks that were in use before the first event.
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
    std::sort(found_.begin(), found_.end(),
              [](const Found& a, const Found& b) { return a.block.address < b.block.address; });
  }

  void PlaceBlocks() {
    auto found = found_.begin();
    for (SegmentState& segment : state_.segments) {
      if (found != found_.end() && found->block.address < segment.address) return Homeless(*found);
      const uint64_t end = segment.address + segment.bytes;
      for (; found != found_.end() && found->block.address < end; ++found) {
        const auto next = std::next(found);
        const uint64_t room =
            std::min(end, next == found_.end() ? end : next->block.address) - found->block.address;
        if (!Place(*found, room, &segment)) return;
      }
    }
    if (found != found_.end()) Homeless(*found);
  }

  void Homeless(const Found& found) {
    Contradict(found.event, "the block at " + Hex(found.block.address) + " lies in no segment");
  }

  bool Place(const Found& found, uint64_t room, SegmentState* segment) {
    BlockState block = found.block;
    const bool known = block.bytes != 0;
    if (!known) block.bytes = model_.RoundedSize(block.requested_bytes);
    if (block.bytes > room) {
      Contradict(found.event, "the block of " + std::to_string(block.bytes) + " bytes at " +
                                  Hex(block.address) + " has room for " + std::to_string(room));
      return false;
    }
    const bool may_have_slack = !known && segment->large && !segment->expandable;
    const bool oversize = block.bytes >= model_.settings().max_split_bytes;  // never split
    if (may_have_slack && (oversize || room - block.bytes <= kMaxSlack)) block.bytes = room;
    segment->blocks.push_back(block);
    ++placed_;
    if (may_have_slack && block.bytes < room)
      unsure_.push_back({static_cast<size_t>(segment - state_.segments.data()), segment->blocks.size() - 1,
                         block.address, block.address + room});
    return true;
  }

  // The first block that is placed in the free space behind a block begins where that block ends.
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

  // Free blocks between those in use.
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

  // Runs of one stream, pool and size that lie as near to each other as one reservation is large are in one;
  // it begins with the lowest page that is ever mapped there.
  void FindRanges() {
    const uint64_t page_round = model_.settings().large_segment_bytes;
    const uint64_t device = model_.device_bytes();
    const uint64_t bytes = (device + device / 8 + page_round - 1) / page_round * page_round;
    for (const SegmentState& run : state_.segments) {
      if (!run.expandable) continue;
      const bool inside =
          std::any_of(state_.ranges.begin(), state_.ranges.end(), [&](const ExpandableRange& range) {
            return range.stream == run.stream && range.pool == run.pool && range.large == run.large &&
                   run.address - range.address < bytes;
          });
      if (inside) continue;
      uint64_t begin = run.address;
      for (const Event& event : history_.events) {
        const bool below =
            event.action == Action::kSegmentMap && event.stream == run.stream && event.address < begin;
        if (below && run.address + run.bytes - event.address <= bytes && !state_.contradiction)
          begin = event.address;
      }
      state_.ranges.push_back({begin, bytes, run.stream, run.pool, run.large});
    }
  }

  const History& history_;
  const DeviceAllocator& model_;
  InitialState state_;
  std::vector<Found> found_;
  std::vector<Unsure> unsure_;
  uint64_t placed_ = 0;
};

}  // namespace

InitialState InitialStateOf(const History& history, const DeviceAllocator& model) {
  return Undo(history, model).Run();
}

void Adopt(const InitialState& state, DeviceAllocator* model) {
  for (const SegmentState& segment : state.segments) {
    if (!segment.expandable) model->Adopt(segment);
  }
  for (const ExpandableRange& range : state.ranges) {
    std::vector<const SegmentState*> runs;
    for (const SegmentState& run : state.segments) {
      const bool inside =
          run.expandable && run.stream == range.stream && run.pool == range.pool && run.large == range.large;
      if (inside && run.address >= range.address && run.address < range.address + range.bytes)
        runs.push_back(&run);
    }
    model->AdoptExpandable(range, runs);
  }
}

}  // namespace vramscope::allocator
