// SPDX-License-Identifier: Apache-2.0
// First fit on a synthetic training run of a hundred thousand blocks: steps that allocate in forward and free
// in backward, short temporaries in between, and state that stays.
#include <benchmark/benchmark.h>

#include <random>

#include "profiler/packing/first_fit.h"
#include "profiler/packing/pack.h"

namespace vramscope::packing {
namespace {

std::vector<Item> TrainingRun(size_t blocks) {
  std::mt19937 chance(1);
  const auto size = [&] { return uint64_t{512} << (chance() % 16) << (chance() % 2); };
  std::vector<Item> items;
  constexpr int64_t kLayers = 500;
  const auto steps = static_cast<int64_t>(blocks / (6 * kLayers));
  const int64_t end = (steps + 1) * kLayers * 8;
  for (int64_t i = 0; i < 2000; ++i) items.push_back({i / 4, end, size()});
  for (int64_t step = 0; step < steps; ++step) {
    const int64_t begin = 1000 + step * kLayers * 8;
    for (int64_t layer = 0; layer < kLayers; ++layer) {
      const int64_t forward = begin + layer * 4;
      const int64_t backward = begin + kLayers * 8 - 4 - layer * 4;
      for (int i = 0; i < 2; ++i) items.push_back({forward + i, backward, size()});
      for (int i = 0; i < 2; ++i) items.push_back({forward + i, forward + i + 2, size()});
      for (int i = 0; i < 2; ++i) items.push_back({backward + i, backward + i + 2, size()});
    }
  }
  return items;
}

void BM_Pack(benchmark::State& state) {
  const std::vector<Item> items = TrainingRun(static_cast<size_t>(state.range(0)));
  for (auto _ : state) {
    const Answer answer = Pack(items, {.good_enough = 0.01});
    state.counters["above_bound_percent"] =
        100.0 * (static_cast<double>(answer.packing.height) / static_cast<double>(answer.lower_bound) - 1);
  }
  state.counters["blocks"] = static_cast<double>(items.size());
}
BENCHMARK(BM_Pack)->Arg(10'000)->Arg(100'000)->Arg(1'000'000)->Unit(benchmark::kMillisecond)->Iterations(1);

}  // namespace
}  // namespace vramscope::packing
