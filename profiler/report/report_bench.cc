// SPDX-License-Identifier: Apache-2.0
// From the file to the answer: ten million events of a generated training run, written once to a temporary
// file. What users wait for is BM_Report; its parts are timed alone. rss_mib is the process's highest
// resident set, the file's pages included.
#include <benchmark/benchmark.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "profiler/model/testing/training_loop.h"
#include "profiler/report/build.h"
#include "profiler/report/json.h"

namespace vramscope::report {
namespace {

// Exits with a message: a benchmark without its trace measures nothing.
void Check(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.error().sentence.c_str());
  std::exit(1);
}

// The path of the written trace; the file goes away with the process.
const std::string& TracePath() {
  struct File {
    std::string path = "/tmp/vramscope_report_bench." + std::to_string(getpid()) + ".vms";
    File() {
      auto sink = trace::CreateFileSink(path);
      if (!sink.ok()) Check(sink.error());
      auto writer = trace::TraceWriter::Create(std::move(sink).value(), trace::TraceClock{});
      if (!writer.ok()) Check(writer.error());
      Check(model::testing::WriteTrainingTrace({}, **writer));
    }
    ~File() { std::remove(path.c_str()); }
  };
  static const File file;
  return file.path;
}

double HighestResidentMib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void BM_Report(benchmark::State& state) {
  TracePath();
  uint64_t events = 0;
  for (auto _ : state) {
    const auto run = model::LoadFile(TracePath());
    const classify::Analysis analysis(*run);
    const Answer answer = BuildAnswer(analysis, {}).value();
    benchmark::DoNotOptimize(ToJson(answer).size());
    events += run->event_count();
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["rss_mib"] = HighestResidentMib();
}
BENCHMARK(BM_Report)->Unit(benchmark::kMillisecond)->Iterations(3);

void BM_Read(benchmark::State& state) {
  const auto reader = trace::TraceReader::Open(TracePath()).value();
  uint64_t events = 0;
  for (auto _ : state) {
    Check(reader->ForEachBatch([&](std::span<const trace::Event> batch) {
      events += batch.size();
      return true;
    }));
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
}
BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);

void BM_Load(benchmark::State& state) {
  uint64_t events = 0;
  for (auto _ : state) events += model::LoadFile(TracePath())->event_count();
  state.SetItemsProcessed(static_cast<int64_t>(events));
}
BENCHMARK(BM_Load)->Unit(benchmark::kMillisecond);

void BM_Analyse(benchmark::State& state) {
  const auto run = model::LoadFile(TracePath()).value();
  for (auto _ : state) {
    const classify::Analysis analysis(run);
    benchmark::DoNotOptimize(analysis.training().size());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * run.event_count());
}
BENCHMARK(BM_Analyse)->Unit(benchmark::kMillisecond);

void BM_Answer(benchmark::State& state) {
  const auto run = model::LoadFile(TracePath()).value();
  const classify::Analysis analysis(run);
  for (auto _ : state) benchmark::DoNotOptimize(BuildAnswer(analysis, {})->steps.size());
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()) * run.event_count());
}
BENCHMARK(BM_Answer)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::report
