// SPDX-License-Identifier: Apache-2.0
// Speed of a walk. Target: a million events in well under a second, and any moment in milliseconds. The
// history is a training loop: 2,000 blocks that stay, and steps with 1,000 short-lived blocks.
#include <benchmark/benchmark.h>

#include <random>

#include "profiler/fragmentation/layout_walk.h"
#include "profiler/fragmentation/measure.h"

namespace vramscope::fragmentation {
namespace {

using allocator::Action;
using allocator::Event;

allocator::History TrainingLoop(size_t events) {
  allocator::History history;
  history.complete = true;
  const auto add = [&](Action action, uint64_t address, uint64_t bytes) {
    Event event;
    event.action = action;
    event.address = address;
    event.bytes = bytes;
    history.events.push_back(event);
  };
  constexpr uint64_t kSegment = 20 * kMiB;
  constexpr uint64_t kBlock = 4 * kMiB;
  constexpr uint64_t kPerSegment = kSegment / kBlock;
  constexpr uint64_t kStay = 2000;
  constexpr uint64_t kStep = 1000;
  const auto address_of = [](uint64_t i) {
    return (i / kPerSegment + 1) * kSegment + i % kPerSegment * kBlock;
  };
  for (uint64_t i = 0; i < kStay + kStep; ++i) {
    if (i % kPerSegment == 0) add(Action::kSegmentAlloc, address_of(i), kSegment);
    if (i < kStay) add(Action::kAlloc, address_of(i), kBlock);
  }
  while (history.events.size() < events) {
    for (uint64_t i = 0; i < kStep; ++i) add(Action::kAlloc, address_of(kStay + i), kBlock);
    for (uint64_t i = kStep; i-- > 0;) {
      add(Action::kFreeRequested, address_of(kStay + i), kBlock);
      add(Action::kFreeCompleted, address_of(kStay + i), kBlock);
    }
  }
  return history;
}

void BM_WalkAMillionEvents(benchmark::State& state) {
  const allocator::History history = TrainingLoop(1'000'000);
  for (auto _ : state) {
    const LayoutWalk walk(history, Rules());
    if (walk.troubles().total() != 0) state.SkipWithError("the history contradicts itself");
    benchmark::DoNotOptimize(walk.peak_reserved());
  }
  state.counters["events/s"] = benchmark::Counter(static_cast<double>(history.events.size()),
                                                  benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(BM_WalkAMillionEvents)->Unit(benchmark::kMillisecond);

void BM_AnyMomentOfAMillion(benchmark::State& state) {
  const allocator::History history = TrainingLoop(1'000'000);
  const LayoutWalk walk(history, Rules());
  LayoutCursor cursor(walk);
  std::mt19937 chance(1);
  for (auto _ : state) {
    const Moment moment = std::uniform_int_distribution<Moment>(0, walk.end())(chance);
    benchmark::DoNotOptimize(Measure(cursor.Seek(moment)).causes.Sum());
  }
}
BENCHMARK(BM_AnyMomentOfAMillion)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::fragmentation
