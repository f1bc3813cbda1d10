// SPDX-License-Identifier: Apache-2.0
// What one question to a step of about 100,000 events takes, and what a whole plan for it takes.
#include <benchmark/benchmark.h>

#include "profiler/plan/plan.h"
#include "profiler/plan/testing/loop.h"

namespace vramscope::plan {
namespace {

constexpr int kOperators = 2'700;  // of a block: six events each, and a block of memory

const testing::Loop& Large() {
  static const testing::Loop loop([] {
    std::vector<testing::BlockShape> blocks(6);
    for (size_t i = 0; i < blocks.size(); ++i) blocks[i] = {32768 * (1 + i % 4), kOperators};
    return blocks;
  }());
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

void Whole(benchmark::State& state) {
  const uint64_t reserved = Large().baseline().use.allocator.reserved_peak;
  const Request request{reserved * static_cast<uint64_t>(state.range(0)) / 100, AllLevers(), 3};
  uint64_t replays = 0;
  for (auto _ : state) replays = MakePlans(Large().step(), Large().baseline(), request).replays;
  state.counters["replays"] = static_cast<double>(replays);
}
BENCHMARK(Whole)->Arg(90)->Arg(60)->Arg(20)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::plan
