// SPDX-License-Identifier: Apache-2.0
// What one question to a step of about 100,000 events takes, and what a whole plan for it takes.
#include <benchmark/benchmark.h>

#include "profiler/plan/plan.h"
#include "profiler/plan/testing/loop.h"

namespace vramscope::plan {
namespace {

// Blocks that differ in size; six events for each of the operators, and a block of memory.
std::vector<testing::BlockShape> Blocks(size_t count, int operators) {
  std::vector<testing::BlockShape> blocks(count);
  for (size_t i = 0; i < count; ++i) blocks[i] = {32768 * (1 + i % 4), operators};
  return blocks;
}

const testing::Loop& Large() {
  static const testing::Loop loop(Blocks(6, 2'700));
  return loop;
}

// More modules than sets can be gone through.
const testing::Loop& Deep() {
  static const testing::Loop loop(Blocks(24, 675));
  return loop;
}

void OneLever(benchmark::State& state, const char* lever, const char* value) {
  whatif::Predictor predictor(Large().step(), Large().baseline());
  for (auto _ : state) benchmark::DoNotOptimize(predictor.Predict({{lever, value}}));
  state.counters["events"] = Large().step().length;
  state.counters["blocks"] = static_cast<double>(Large().baseline().scene.blocks.size());
}
BENCHMARK_CAPTURE(OneLever, checkpoint, "checkpoint", "all")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneLever, batch, "batch", "0.5x")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(OneLever, accumulate, "accumulate", "2")->Unit(benchmark::kMillisecond);

void Whole(benchmark::State& state, const testing::Loop& loop) {
  const uint64_t reserved = loop.baseline().use.allocator.reserved_peak;
  const Request request{reserved * static_cast<uint64_t>(state.range(0)) / 100, UsualLevers(), 3};
  uint64_t replays = 0;
  for (auto _ : state) replays = MakePlans(loop.step(), loop.baseline(), request).replays;
  state.counters["replays"] = static_cast<double>(replays);
}
BENCHMARK_CAPTURE(Whole, six_modules, Large())->Arg(90)->Arg(60)->Arg(20)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(Whole, many_modules, Deep())->Arg(90)->Arg(60)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::plan
