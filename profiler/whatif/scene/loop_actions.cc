// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/scene/loop_actions.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "profiler/whatif/step/order.h"

namespace vramscope::whatif {
namespace {

// Collects actions and sorts them. Actions of one kind at one position keep the order of their blocks.
template <typename Action>
class Ordering {
 public:
  explicit Ordering(size_t about) {
    all_.reserve(about);
    moments_.reserve(about);
  }
  void Add(const Action& action) {
    moments_.push_back({action.at, static_cast<uint32_t>(action.what), static_cast<uint32_t>(all_.size())});
    all_.push_back(action);
  }
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

// Splits a position of the first step: the position within its window, and the number of that window.
std::pair<Position, int16_t> WithinWindow(Position at, int64_t length) {
  int64_t window = 0;
  if (at.event >= length) window = at.event / length;
  if (at.event < 0) window = -((length - 1 - at.event) / length);
  at += -window * length;
  if (at < Position(0)) at += length, --window;  // before event 0: inserted in the previous step
  constexpr int64_t kFar = 2 * kReplayedSteps;   // beyond every replay
  return {at, static_cast<int16_t>(std::clamp(window, -kFar, kFar))};
}

}  // namespace

bool ComesBefore(const OnceAction& once, const StepAction& repeated, int64_t start) {
  const Position at = repeated.at + start;
  return std::tie(once.at, once.what, once.block) < std::tie(at, repeated.what, repeated.block);
}

LoopActions ActionsOf(const Scene& scene) {
  LoopActions actions;
  Ordering<OnceAction> setup(0), once(0);
  Ordering<StepAction> step(scene.blocks.size() * 2);
  const auto repeat = [&](Position at, uint32_t block, What what, bool but_in_first) {
    if (scene.length <= 0) return;
    const auto [within, lag] = WithinWindow(at, scene.length);
    actions.first_window = std::min<int32_t>(actions.first_window, lag);
    step.Add({within, block, lag, what, but_in_first});
  };
  for (uint32_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& block = scene.blocks[i];
    if (block.bytes == 0) continue;
    switch (block.birth) {
      case Birth::kSetup:
        setup.Add({block.begin, i, What::kAlloc});
        if (block.end < 0)
          setup.Add({block.end, i, What::kFree});
        else if (block.Passes())
          once.Add({block.end, i, What::kFree});
        break;
      case Birth::kOnce:
        once.Add({block.begin, i, What::kAlloc});
        if (block.Passes()) once.Add({block.end, i, What::kFree});
        break;
      case Birth::kEachStep:
        repeat(block.begin, i, What::kAlloc, block.but_in_first);
        if (block.piles_up)
          actions.piles_up = true;
        else
          repeat(block.end, i, What::kFree, block.but_in_first);
        break;
    }
  }
  for (const Position at : scene.empty_cache) repeat(at, 0, What::kEmptyCache, false);
  actions.setup = std::move(setup).InOrder();
  actions.once = std::move(once).InOrder();
  actions.step = std::move(step).InOrder();
  return actions;
}

Cut FindCut(const LoopActions& actions, size_t blocks, bool at_begin) {
  constexpr uint32_t kNever = UINT32_MAX;
  struct Life {
    uint32_t alloc = kNever, free = kNever;  // places
    int32_t alloc_lag = 0, free_lag = 0;
  };
  Cut cut;
  if (actions.piles_up || actions.first_window < 0) return cut;
  std::vector<Life> lives(blocks);
  int64_t count = 0;  // live blocks, less those at the start of the step
  int64_t fewest = 0;
  for (uint32_t place = 0; place < actions.step.size(); ++place) {
    const StepAction& action = actions.step[place];
    if (count < fewest && !at_begin) fewest = count, cut.place = place;
    if (action.what == What::kAlloc) {
      lives[action.block].alloc = place, lives[action.block].alloc_lag = action.lag;
      ++count;
    } else if (action.what == What::kFree) {
      lives[action.block].free = place, lives[action.block].free_lag = action.lag;
      --count;
    }
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    const Life& life = lives[i];
    if (life.alloc == kNever) continue;
    // The copies alive at the cut belong to the steps from `newest` to `oldest` windows earlier.
    const int32_t newest = life.alloc_lag + (life.alloc < cut.place ? 0 : 1);
    const int32_t oldest = life.free_lag - (life.free < cut.place ? 1 : 0);
    if (oldest > newest) return cut;
    if (oldest == newest) cut.alive.push_back({i, newest});
  }
  cut.usable = true;
  return cut;
}

}  // namespace vramscope::whatif
