// SPDX-License-Identifier: Apache-2.0
// How fast a snapshot is read. VRAMSCOPE_BENCH_SNAPSHOT names a pickle. scripts/snapshot_speed.py alternates
// this with Python's pickle.load.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "profiler/snapshot/read.h"

namespace vramscope::snapshot {
namespace {

void BM_ReadSnapshot(benchmark::State& state) {
  const char* const path = std::getenv("VRAMSCOPE_BENCH_SNAPSHOT");
  if (path == nullptr) {
    state.SkipWithError("VRAMSCOPE_BENCH_SNAPSHOT names no file");
    return;
  }
  uint64_t events = 0;
  uint64_t bytes = 0;
  for (auto _ : state) {
    const auto snapshot = Read(path);
    if (!snapshot.ok()) {
      state.SkipWithError(snapshot.error().sentence.c_str());
      return;
    }
    events += (*snapshot)->events.size();
    bytes += (*snapshot)->bytes_read;
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}
BENCHMARK(BM_ReadSnapshot)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::snapshot
