// SPDX-License-Identifier: Apache-2.0
// Time from a trace file to its report: ten million events of a generated training run, written once to a
// temporary file. Users wait for BM_Report; its parts are also timed alone. rss_mib is the process's highest
// resident set, including the file's pages.
#include <benchmark/benchmark.h>

#include <string>

#include "profiler/experiment/savings.h"
#include "profiler/model/testing/trace_on_disk.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::experiment {
namespace {

using model::testing::HighestResidentMib;
using model::testing::MustSucceed;
using model::testing::TraceOnDisk;

std::optional<report::Savings> UsualSavings(const classify::Analysis& analysis, model::DeviceIndex device) {
  return FindSavings(analysis, device, "");
}

void BM_Report(benchmark::State& state) {
  (void)TraceOnDisk();
  uint64_t events = 0;
  for (auto _ : state) {
    const auto run = model::LoadFile(TraceOnDisk());
    const classify::Analysis analysis(*run);
    const report::Answer answer = report::BuildAnswer(analysis, {.find_savings = UsualSavings}).value();
    benchmark::DoNotOptimize(report::ToJson(answer).size());
    events += run->event_count();
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["rss_mib"] = HighestResidentMib();
}
BENCHMARK(BM_Report)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_Read(benchmark::State& state) {
  const auto reader = trace::TraceReader::Open(TraceOnDisk()).value();
  uint64_t events = 0;
  for (auto _ : state) {
    MustSucceed(reader->ForEachBatch([&](std::span<const trace::Event> batch) {
      events += batch.size();
      return true;
    }));
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_Load(benchmark::State& state) {
  uint64_t events = 0;
  for (auto _ : state) events += model::LoadFile(TraceOnDisk())->event_count();
  state.SetItemsProcessed(static_cast<int64_t>(events));
}
BENCHMARK(BM_Load)->Unit(benchmark::kMillisecond);

void BM_Analyze(benchmark::State& state) {
  const auto run = model::LoadFile(TraceOnDisk()).value();
  for (auto _ : state) {
    const classify::Analysis analysis(run);
    benchmark::DoNotOptimize(analysis.training().size());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * run.event_count());
}
BENCHMARK(BM_Analyze)->Unit(benchmark::kMillisecond);

void BM_Answer(benchmark::State& state) {
  const auto run = model::LoadFile(TraceOnDisk()).value();
  const classify::Analysis analysis(run);
  for (auto _ : state) benchmark::DoNotOptimize(report::BuildAnswer(analysis, {})->steps.size());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * run.event_count());
}
BENCHMARK(BM_Answer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::experiment
