// SPDX-License-Identifier: Apache-2.0
// Replays scenes through the exact model of PyTorch's allocator.
//
// Why four steps from an empty state: reserved memory depends on the order of the first requests. The first
// step finds an empty cache, the optimizer state is allocated in the middle of it, and later steps find the
// holes that this left.
#include <algorithm>
#include <utility>
#include <vector>

#include "profiler/whatif/scene/modelled_allocator.h"
#include "profiler/whatif/scene/scene.h"
#include "profiler/whatif/step/order.h"

namespace vramscope::whatif {
namespace {

constexpr int kSteps = kReplayedSteps;

enum class What : uint8_t { kFree, kEmptyCache, kAlloc };

struct Action {
  Position at;
  uint32_t block;  // into Scene::blocks
  uint32_t slot;   // its address: one for each block and parity of the step
  What what;
};

// Actions and their order. The index of a moment is that of an action.
class Actions {
 public:
  explicit Actions(size_t about) {
    all_.reserve(about);
    moments_.reserve(about);
  }
  void Add(const Action& action) {
    moments_.push_back({action.at, static_cast<uint32_t>(action.what), static_cast<uint32_t>(all_.size())});
    all_.push_back(action);
  }
  // At the same moment, those that free memory come first.
  [[nodiscard]] std::vector<Action> InOrder() && {
    PutInOrder(moments_);
    std::vector<Action> ordered;
    ordered.reserve(all_.size());
    for (const Moment& moment : moments_) ordered.push_back(all_[moment.index]);
    return ordered;
  }

 private:
  std::vector<Action> all_;
  std::vector<Moment> moments_;
};

// What came before the first step.
std::vector<Action> WriteOutSetup(const Scene& scene) {
  Actions actions(0);
  for (uint32_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& block = scene.blocks[i];
    if (block.bytes == 0 || block.birth != Birth::kSetup) continue;
    actions.Add({block.begin, i, 2 * i, What::kAlloc});
    if (block.end < 0) actions.Add({block.end, i, 2 * i, What::kFree});
  }
  return std::move(actions).InOrder();
}

std::vector<Action> WriteOut(const Scene& scene) {
  Actions actions(scene.blocks.size() * 2 * kSteps);
  for (uint32_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& block = scene.blocks[i];
    if (block.bytes == 0) continue;
    if (block.birth == Birth::kSetup) {
      if (block.Passes() && block.end >= 0) actions.Add({block.end, i, 2 * i, What::kFree});
      continue;
    }
    if (block.birth == Birth::kOnce) {
      actions.Add({block.begin, i, 2 * i, What::kAlloc});
      if (block.Passes()) actions.Add({block.end, i, 2 * i, What::kFree});
      continue;
    }
    for (int step = block.but_in_first ? 1 : 0; step < kSteps; ++step) {
      const int64_t start = step * scene.length;
      const uint32_t slot = 2 * i + (step & 1);
      actions.Add({block.begin + start, i, slot, What::kAlloc});
      if (!block.piles_up) actions.Add({block.end + start, i, slot, What::kFree});
    }
  }
  for (const Position at : scene.empty_cache) {
    for (int step = 0; step < kSteps; ++step)
      actions.Add({at + step * scene.length, 0, 0, What::kEmptyCache});
  }
  return std::move(actions).InOrder();
}

// Records the counters over each step of the replay, and keeps the step with the highest peak.
class StepWriter {
 public:
  StepWriter(const Scene& scene, const allocator::DeviceAllocator& model, UseOverStep* into)
      : length_(scene.length), model_(model), into_(into) {
    if (into_ != nullptr) *into_ = {scene, {}};
  }

  // `block` was allocated before the first step.
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

}  // namespace

Result<Replayed> ReplayScene(const Scene& scene, const Step& step, UseOverStep* over_step,
                             uint64_t most_reserved) {
  const allocator::Settings settings = VRAMSCOPE_TRY(SettingsFor(step, scene.settings));
  ModelledAllocator allocator(step, settings);
  allocator::DeviceAllocator& model = allocator.model();

  StepWriter writer(scene, model, over_step);
  ReservedThen reserved_then(model.statistics());
  std::vector<uint64_t> addresses(scene.blocks.size() * 2, 0);
  for (const Action& action : WriteOutSetup(scene)) {
    const Block& block = scene.blocks[action.block];
    if (action.what == What::kAlloc)
      addresses[action.slot] = model.Malloc(block.bytes, block.stream).value_or(0);
    else
      (void)model.Free(addresses[action.slot]);
    reserved_then.Look();
    writer.Before(block);
  }
  writer.Start();
  const int64_t end = kSteps * scene.length;
  const allocator::Statistics& statistics = model.statistics();
  const auto calls = [&] { return statistics.num_device_alloc + statistics.num_device_free; };
  uint64_t calls_before = calls();
  const auto so_far = [&] {
    return Replayed{statistics.all.reserved_bytes.peak, statistics.all.allocated_bytes.peak,
                    calls() - calls_before, reserved_then.bytes()};
  };
  for (const Action& action : WriteOut(scene)) {
    if (action.at >= end) break;
    if (action.at < end - scene.length) calls_before = std::max(calls_before, calls());
    const Block& block = scene.blocks[action.block];
    switch (action.what) {
      case What::kAlloc:
        addresses[action.slot] = model.Malloc(block.bytes, block.stream).value_or(0);
        reserved_then.Look();
        if (statistics.all.reserved_bytes.current > most_reserved) return so_far();
        break;
      case What::kFree:
        (void)model.Free(addresses[action.slot]);
        break;
      case What::kEmptyCache:
        model.EmptyCache();
        break;
    }
    writer.Changed(action.at, block);
  }
  writer.End();
  return so_far();
}

}  // namespace vramscope::whatif
