// SPDX-License-Identifier: Apache-2.0
// Replays scenes through the exact model of PyTorch's allocator.
//
// Why four steps from an empty state: reserved memory depends on the order of the first requests. The first
// step finds an empty cache, the optimizer state is allocated in the middle of it, and later steps find the
// holes that this left.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "profiler/whatif/scene/loop_actions.h"
#include "profiler/whatif/scene/modeled_allocator.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {
namespace {

constexpr int kSteps = kReplayedSteps;

// Records the counters over each step of the replay, and keeps the step with the highest peak.
class StepWriter {
 public:
  StepWriter(const Scene& scene, const allocator::DeviceAllocator& model, UseOverStep* into)
      : length_(scene.length), model_(model), into_(into) {
    if (into_ != nullptr) *into_ = {scene, {}};
  }

  // `block` was allocated or freed before the first step.
  void Before(const Block& block) { Count(block); }
  void Start() {
    if (into_ != nullptr) Write(0);
  }
  // `block` was allocated or freed at that position of the loop, or only the cache was emptied.
  void Changed(Position at, const Block& block) {
    if (into_ == nullptr) return;
    while (at >= begin_ + length_) NextStep();
    Count(block);
    Write(at);
  }
  void End() {
    if (into_ != nullptr) NextStep();
  }

 private:
  void Count(const Block& block) {
    const uint64_t now = model_.statistics().all.allocated_bytes.current;
    categories_[static_cast<size_t>(block.category)] += now - last_;  // wraps around if it is less
    last_ = now;
    reserved_ = model_.statistics().all.reserved_bytes.current;
    peak_ = std::max(peak_, now);
  }
  void Write(Position at) {
    const Position within = std::clamp<Position>(at - begin_, 0, length_);
    points_.push_back({within, last_, reserved_, categories_});
  }
  // O(events of a step).
  void NextStep() {
    if (peak_ >= best_) {
      best_ = peak_;
      into_->points = std::move(points_);
    }
    points_.clear();
    begin_ += length_;
    peak_ = last_;
    Write(begin_);
  }

  int64_t length_;
  const allocator::DeviceAllocator& model_;
  UseOverStep* into_;
  int64_t begin_ = 0;
  uint64_t last_ = 0;  // last allocated bytes
  uint64_t reserved_ = 0;
  uint64_t peak_ = 0;  // of the current step
  uint64_t best_ = 0;
  classify::CategoryBytes categories_{};
  std::vector<UseAt> points_;
};

// Runs the loop through the allocator until its steps repeat.
//
// Why it may stop early: once the allocator is in the same state at the same place of two steps, all that
// follows happens again, with the same addresses. The state is the same if the segments are (the driver was not
// called in between) and all live blocks are at the same addresses with the same sizes: free memory is what lies
// between them, and is always merged. So it is enough to compare the blocks of the steps; what was allocated
// once has not moved. Most loops repeat from their second or third step on.
class LoopReplay {
 public:
  LoopReplay(const Scene& scene, allocator::DeviceAllocator& model, UseOverStep* over_step,
             uint64_t most_reserved)
      : scene_(scene),
        actions_(ActionsOf(scene)),
        cut_(FindCut(actions_, scene.blocks.size(), over_step != nullptr)),
        model_(model),
        writer_(scene, model, over_step),
        reserved_then_(model.statistics()),
        most_reserved_(most_reserved),
        addresses_(scene.blocks.size() * 2, 0) {
    // The age of a free block is a part of the state that is not compared.
    if (model.settings().garbage_collection_threshold > 0) cut_.usable = false;
  }

  Replayed Run() {
    RunSetup();
    calls_before_ = Calls();
    for (int window = actions_.first_window; window < kSteps; ++window)
      if (!RunWindow(window)) break;
    if (!full_ && !repeats_) RunOnceBefore(kSteps * scene_.length);
    if (!full_) writer_.End();
    const allocator::Statistics& all = model_.statistics();
    return {all.all.reserved_bytes.peak, all.all.allocated_bytes.peak, repeats_ ? 0 : Calls() - calls_before_,
            reserved_then_.bytes()};
  }

 private:
  // The state that must be equal at the cut in two steps.
  struct State {
    uint64_t driver_calls = 0;
    size_t once = 0;     // actions so far that happen once
    size_t missing = 0;  // actions so far whose step is not one of those that are run
    std::vector<std::pair<uint64_t, uint64_t>> blocks;  // address and size of those that are alive
    friend bool operator==(const State&, const State&) = default;
  };

  [[nodiscard]] uint64_t Calls() const {
    return model_.statistics().num_device_alloc + model_.statistics().num_device_free;
  }
  static size_t SlotOf(uint32_t block, int step) { return 2 * size_t{block} + (step & 1); }

  void RunSetup() {
    for (const OnceAction& action : actions_.setup) {
      const Block& block = scene_.blocks[action.block];
      uint64_t& address = addresses_[SlotOf(action.block, 0)];
      if (action.what == What::kAlloc)
        address = model_.Malloc(block.bytes, block.stream).value_or(0);
      else
        (void)model_.Free(address);
      reserved_then_.Look();
      writer_.Before(block);
    }
    writer_.Start();
  }

  // Returns false if Run() need not continue: too much is reserved, or the rest would only repeat.
  bool RunWindow(int window) {
    const int64_t start = window * scene_.length;
    const std::vector<StepAction>& step = actions_.step;
    for (size_t place = 0; place < step.size(); ++place) {
      if (place == cut_.place && Repeats(window)) return false;
      const StepAction& action = step[place];
      while (once_ < actions_.once.size() && ComesBefore(actions_.once[once_], action, start))
        if (!RunOnce()) return false;
      const int of = window - action.lag;
      if (of < (action.but_in_first ? 1 : 0) || of >= kSteps) {
        ++missing_;
        continue;
      }
      if (!Do(action.at + start, action.block, SlotOf(action.block, of), action.what)) return false;
    }
    return true;
  }

  bool RunOnce() {
    const OnceAction& action = actions_.once[once_++];
    return Do(action.at, action.block, SlotOf(action.block, 0), action.what);
  }
  void RunOnceBefore(int64_t end) {
    while (once_ < actions_.once.size() && actions_.once[once_].at < Position(end))
      if (!RunOnce()) return;
  }

  // False if too much is reserved.
  bool Do(Position at, uint32_t index, size_t slot, What what) {
    const Block& block = scene_.blocks[index];
    if (at < Position((kSteps - 1) * scene_.length)) calls_before_ = Calls();
    switch (what) {
      case What::kAlloc:
        addresses_[slot] = model_.Malloc(block.bytes, block.stream).value_or(0);
        reserved_then_.Look();
        full_ = model_.statistics().all.reserved_bytes.current > most_reserved_;
        if (full_) return false;
        break;
      case What::kFree:
        (void)model_.Free(addresses_[slot]);
        break;
      case What::kEmptyCache:
        model_.EmptyCache();
        break;
    }
    writer_.Changed(at, block);
    return true;
  }

  // True if the state at the cut equals that of one step earlier, so that the rest of the loop repeats this
  // step.
  bool Repeats(int window) {
    if (!cut_.usable) return false;
    State now{Calls(), once_, missing_, {}};
    const bool more_once =
        once_ < actions_.once.size() && actions_.once[once_].at < Position(kSteps * scene_.length);
    if (more_once) return false;
    now.blocks.reserve(cut_.alive.size());
    for (const Cut::Alive& alive : cut_.alive) {
      const uint64_t address = addresses_[SlotOf(alive.block, window - alive.lag)];
      const allocator::Block* const block = model_.Find(address);
      now.blocks.emplace_back(address, block == nullptr ? 0 : block->bytes);
    }
    repeats_ = last_ && *last_ == now;
    last_ = std::move(now);
    return repeats_;
  }

  const Scene& scene_;
  const LoopActions actions_;
  Cut cut_;
  allocator::DeviceAllocator& model_;
  StepWriter writer_;
  ReservedThen reserved_then_;
  uint64_t most_reserved_;
  std::vector<uint64_t> addresses_;  // two for each block: one for even steps, one for odd steps
  size_t once_ = 0;
  size_t missing_ = 0;
  uint64_t calls_before_ = 0;  // of the last step
  bool full_ = false;
  bool repeats_ = false;
  std::optional<State> last_;  // at the cut of the previous step
};

}  // namespace

Result<Replayed> ReplayScene(const Scene& scene, const Step& step, UseOverStep* over_step,
                             uint64_t most_reserved) {
  const allocator::Settings settings = VRAMSCOPE_TRY(SettingsFor(step, scene.settings));
  ModeledAllocator allocator(step, settings);
  return LoopReplay(scene, allocator.model(), over_step, most_reserved).Run();
}

}  // namespace vramscope::whatif
