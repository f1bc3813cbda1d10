// SPDX-License-Identifier: Apache-2.0
// Oracle: all actions of four steps, written out, sorted by comparison, and run one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "profiler/whatif/scene/loop_actions.h"
#include "profiler/whatif/scene/modeled_allocator.h"
#include "profiler/whatif/scene/scene.h"

namespace vramscope::whatif {
namespace {

struct WrittenOut {
  Position at;
  What what = What::kFree;
  uint32_t block = 0;
  uint32_t step = 0;
};

std::vector<WrittenOut> FourSteps(const Scene& scene) {
  std::vector<WrittenOut> all;
  for (uint32_t i = 0; i < scene.blocks.size(); ++i) {
    const Block& block = scene.blocks[i];
    const bool each = block.birth == Birth::kEachStep;
    for (uint32_t step = block.but_in_first ? 1 : 0; step < (each ? kReplayedSteps : 1); ++step) {
      const int64_t start = step * scene.length;
      const bool freed = each ? !block.piles_up : block.Passes();
      all.push_back({block.begin + start, What::kAlloc, i, step});
      if (freed) all.push_back({block.end + start, What::kFree, i, step});
    }
  }
  for (const Position at : scene.empty_cache)
    for (uint32_t step = 0; step < kReplayedSteps; ++step)
      all.push_back({at + step * scene.length, What::kEmptyCache, 0, step});
  std::stable_sort(all.begin(), all.end(), [](const WrittenOut& a, const WrittenOut& b) {
    return std::tie(a.at, a.what) < std::tie(b.at, b.what);
  });
  return all;
}

Replayed OneByOne(const Scene& scene, const Step& step) {
  const allocator::Settings settings = SettingsFor(step, scene.settings).value();
  ModeledAllocator allocator(step, settings);
  const allocator::Statistics& statistics = allocator.model().statistics();
  ReservedThen reserved_then(statistics);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> addresses;
  const auto calls = [&] { return statistics.num_device_alloc + statistics.num_device_free; };
  uint64_t calls_before = 0;
  bool in_setup = true;
  for (const WrittenOut& action : FourSteps(scene)) {
    if (action.at >= Position(kReplayedSteps * scene.length)) break;
    const Block& block = scene.blocks[action.block];
    const bool setup = block.birth == Birth::kSetup && action.at < Position(0);
    if (in_setup && !setup) calls_before = calls();
    in_setup = in_setup && setup;
    if (!in_setup && action.at < Position((kReplayedSteps - 1) * scene.length)) calls_before = calls();
    uint64_t& address = addresses[{action.block, action.step}];
    if (action.what == What::kAlloc)
      address = allocator.model().Malloc(block.bytes, block.stream).value_or(0);
    else if (action.what == What::kFree)
      (void)allocator.model().Free(address);
    else
      allocator.model().EmptyCache();
    reserved_then.Look();
  }
  return {statistics.all.reserved_bytes.peak, statistics.all.allocated_bytes.peak, calls() - calls_before,
          reserved_then.bytes()};
}

// A loop of 1,000 events with blocks as training has them: parameters, state from the first step on,
// activations, and gradients that the next step frees.
class RandomLoop {
 public:
  explicit RandomLoop(uint64_t seed) : random_(seed) {
    step_.run = &run_;
    step_.torch_version = "2.12.0";
    run_.streams.assign(2, 0);
    scene_.length = 1'000;
    const char* const settings[] = {"", "", "expandable_segments:True", "max_split_size_mb:40",
                                    "garbage_collection_threshold:0.6,per_process_memory_fraction:0.002"};
    scene_.settings = settings[Below(5)];
    const uint64_t count = 20 + Below(150);
    for (uint64_t i = 0; i < count; ++i) Add();
    if (Below(8) == 0) scene_.empty_cache.push_back(Position(int64_t(Below(1'000))));
  }

  [[nodiscard]] const Scene& scene() const { return scene_; }
  [[nodiscard]] const Step& step() const { return step_; }

 private:
  uint64_t Below(uint64_t end) { return random_() % end; }
  Position Somewhere(int64_t begin, int64_t end) {
    const Position at = begin + static_cast<int64_t>(Below(static_cast<uint64_t>(end - begin)));
    return Below(4) == 0 ? After(at, static_cast<int64_t>(Below(5)) - 2) : at;
  }

  void Add() {
    constexpr int64_t kLength = 1'000;
    Block block;
    block.bytes = Below(3) == 0 ? Below(3 << 20) + 1 : Below(40) * 1'000'000 / (1 + Below(90)) + 1;
    block.stream = static_cast<uint16_t>(Below(10) == 0);
    switch (Below(12)) {
      case 0:
        block.birth = Birth::kSetup, block.begin = Position(-int64_t(Below(50)) - 60);
        if (Below(3) == 0) block.end = Position(-int64_t(Below(50)) - 2);
        if (Below(9) == 0) block.end = Somewhere(0, 4 * kLength);
        break;
      case 1:
        block.birth = Birth::kOnce, block.begin = Somewhere(0, kLength);
        if (Below(3) == 0) block.end = block.begin + int64_t(Below(3 * kLength) + 1);
        break;
      case 2:
      case 3:
        block.begin = Somewhere(500, kLength), block.end = Somewhere(kLength, kLength + 300);
        if (Below(12) == 0) block.end = Somewhere(2 * kLength - 400, 2 * kLength);  // two are alive at a time
        block.but_in_first = Below(9) == 0;
        break;
      case 4:
        block.begin = Somewhere(0, kLength), block.end = Position(kLength);
        block.piles_up = Below(40) == 0;
        break;
      default:
        block.begin = Somewhere(0, 990);
        block.end =
            After(block.begin + int64_t(Below(static_cast<uint64_t>(kLength - block.begin.event))), 4);
    }
    scene_.blocks.push_back(block);
  }

  std::mt19937_64 random_;
  model::Run run_;
  Step step_;
  Scene scene_;
};

TEST(ReplaySceneTest, RandomLoopsHaveThePeaksOfAReplayOfAllFourSteps) {
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    const RandomLoop loop(seed);
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Replayed wanted = OneByOne(loop.scene(), loop.step());
    UseOverStep over_step;
    for (UseOverStep* over : {static_cast<UseOverStep*>(nullptr), &over_step}) {
      const Replayed found = ReplayScene(loop.scene(), loop.step(), over).value();
      ASSERT_EQ(found.reserved_peak, wanted.reserved_peak);
      ASSERT_EQ(found.allocated_peak, wanted.allocated_peak);
      ASSERT_EQ(found.driver_calls, wanted.driver_calls);
      ASSERT_EQ(found.reserved_then, wanted.reserved_then);
    }
    ASSERT_FALSE(over_step.points.empty());
  }
}

TEST(ReplaySceneTest, TheCutOfAStepIsWhereFewestOfItsBlocksAreAlive) {
  Scene scene;
  scene.length = 100;
  scene.blocks = {{Position(10), Position(60), 512}, {Position(50), Position(105), 512}};
  const Cut cut = FindCut(ActionsOf(scene), scene.blocks.size(), false);
  ASSERT_TRUE(cut.usable);
  EXPECT_EQ(cut.place, 1u);  // after the free at 5, before the allocation at 10
  EXPECT_TRUE(cut.alive.empty());
  const Cut begin = FindCut(ActionsOf(scene), scene.blocks.size(), true);
  ASSERT_EQ(begin.alive.size(), 1u);
  EXPECT_EQ(begin.alive[0].block, 1u);
  EXPECT_EQ(begin.alive[0].lag, 1);
}

}  // namespace
}  // namespace vramscope::whatif
