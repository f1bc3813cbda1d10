// SPDX-License-Identifier: Apache-2.0
// How fast a long run is loaded: ten million events of a generated training loop. The events are
// generated while they are read, so the figure includes that time (measured alone by BM_MakeEvents).
#include <benchmark/benchmark.h>

#include "profiler/model/run.h"
#include "profiler/model/testing/training_loop.h"

namespace vramscope::model {
namespace {

void BM_MakeEvents(benchmark::State& state) {
  const auto trace = testing::MakeTrainingTrace({});
  uint64_t seen = 0;
  for (auto _ : state) {
    const Status read = trace->ForEachBatch([&](std::span<const trace::Event> events) {
      seen += events.size();
      return true;
    });
    if (!read.ok()) state.SkipWithError("no events");
  }
  state.SetItemsProcessed(static_cast<int64_t>(seen));
}
BENCHMARK(BM_MakeEvents)->Unit(benchmark::kMillisecond);

void BM_Load(benchmark::State& state) {
  const auto trace = testing::MakeTrainingTrace({});
  uint64_t loaded = 0;
  for (auto _ : state) {
    const Run run = Load(trace).value();
    loaded += run.event_count();
    state.counters["blocks"] = static_cast<double>(run.blocks.size());
    state.counters["facts"] = static_cast<double>(run.facts.size());
    state.counters["labels"] = static_cast<double>(run.labels.size());
  }
  state.SetItemsProcessed(static_cast<int64_t>(loaded));
}
BENCHMARK(BM_Load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::model
