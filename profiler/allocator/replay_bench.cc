// SPDX-License-Identifier: Apache-2.0
// Speed of a replay in events per second: a training loop with a typical number of blocks, and a random
// program with thousands of live blocks.
#include <benchmark/benchmark.h>

#include <random>

#include "profiler/allocator/device_allocator.h"
#include "profiler/allocator/modeled_driver.h"
#include "profiler/allocator/replay.h"

namespace vramscope::allocator {
namespace {

class Tape : public Listener {
 public:
  void OnEvent(const Event& event) override { events.push_back(event); }
  std::vector<Event> events;
};

// A training loop. Each step makes `blocks` allocations and frees them in reverse order, like activations.
History Training(size_t blocks, size_t steps) {
  ModeledDriver driver;
  DeviceAllocator model(Releases().back(), Settings{}, 80 * kGiB, driver);
  Tape tape;
  model.SetListener(&tape);
  std::mt19937_64 random(1);
  std::vector<uint64_t> sizes(blocks), live;
  for (uint64_t& size : sizes) size = uint64_t{1} << (9 + random() % 16);
  for (size_t step = 0; step < steps; ++step) {
    for (const uint64_t size : sizes) live.push_back(*model.Malloc(size, 0));
    for (; !live.empty(); live.pop_back()) model.Free(live.back());
  }
  History history;
  history.torch_version = "2.15.0";
  history.events = std::move(tape.events);
  history.complete = true;
  return history;
}

// `alive` blocks at a time; each allocation frees a random one.
History Random(size_t alive, size_t requests) {
  ModeledDriver driver;
  DeviceAllocator model(Releases().back(), Settings{}, 80 * kGiB, driver);
  Tape tape;
  model.SetListener(&tape);
  std::mt19937_64 random(1);
  std::vector<uint64_t> live;
  for (size_t i = 0; i < requests; ++i) {
    live.push_back(*model.Malloc(1 + random() % (uint64_t{1} << (6 + random() % 18)), 0));
    if (live.size() < alive) continue;
    std::swap(live[random() % live.size()], live.back());
    model.Free(live.back());
    live.pop_back();
  }
  History history;
  history.torch_version = "2.15.0";
  history.events = std::move(tape.events);
  history.complete = true;
  return history;
}

void Run(benchmark::State& state, const History& history) {
  for (auto _ : state) {
    const Result<ReplayResult> result = Replay(history);
    if (!result->exact()) state.SkipWithError("not exact");
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * history.events.size()));
}

void BM_ReplayTraining(benchmark::State& state) { Run(state, Training(1000, 350)); }
BENCHMARK(BM_ReplayTraining)->Unit(benchmark::kMillisecond);

void BM_ReplayRandom(benchmark::State& state) {
  Run(state, Random(static_cast<size_t>(state.range(0)), 330'000));
}
BENCHMARK(BM_ReplayRandom)->Arg(1000)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::allocator
