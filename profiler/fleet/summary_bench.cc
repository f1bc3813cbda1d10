// SPDX-License-Identifier: Apache-2.0
// The cost of a rank's summary at the end of its recording: reading the trace, computing the figures, writing
// the text. The trace is a training loop of a million events (VRAMSCOPE_BENCH_EVENTS for another number).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "profiler/fleet/read.h"
#include "profiler/fleet/summary_file.h"
#include "profiler/model/testing/training_loop.h"

namespace vramscope::fleet {
namespace {

uint64_t BenchEvents() {
  const char* events = std::getenv("VRAMSCOPE_BENCH_EVENTS");
  return events == nullptr ? 1'000'000 : std::strtoull(events, nullptr, 10);
}

// A trace in the folder for temporary files. It exists while the program runs.
class BenchTrace {
 public:
  BenchTrace() : path((std::filesystem::temp_directory_path() / "vramscope_summary_bench.vms").string()) {
    model::testing::TrainingShape shape;
    shape.events = BenchEvents();
    if (!model::testing::WriteTrainingFile(shape, path).ok()) std::abort();
  }
  ~BenchTrace() { std::filesystem::remove(path); }

  const std::string path;
};

void WriteSummaryOfATrace(benchmark::State& state) {
  static const BenchTrace trace;
  size_t steps = 0, bytes = 0;
  for (auto _ : state) {
    const std::vector<RankSummary> ranks = SummarizeFile(trace.path).value();
    steps = ranks.front().steps.size();
    bytes = SummaryText(ranks, 1).size();
  }
  const auto per = [&](uint64_t count) {
    return benchmark::Counter(static_cast<double>(count),
                              benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  };
  state.counters["per_event"] = per(BenchEvents());
  state.counters["per_step"] = per(steps);
  state.counters["bytes_per_step"] = static_cast<double>(bytes) / static_cast<double>(steps);
}
// Measures the CPU time of all threads, because one decodes while the other computes.
BENCHMARK(WriteSummaryOfATrace)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

void TextOfASummary(benchmark::State& state) {
  RankSummary rank;
  for (uint32_t step = 1; step <= 10'000; ++step)
    rank.steps.push_back({step, step * 1'000'000'000ull, step * 1'000'000'000ull + 999'000'000,
                          (8ull << 30) + step % 7 * 512, 9ull << 30, (6ull << 30) + step * 512});
  for (auto _ : state) benchmark::DoNotOptimize(SummaryText({rank}, 1));
  state.counters["per_step"] =
      benchmark::Counter(10'000, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(TextOfASummary)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::fleet
