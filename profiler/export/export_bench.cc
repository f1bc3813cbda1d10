// SPDX-License-Identifier: Apache-2.0
// Rows per second for exports with many rows: a generated training run of VRAMSCOPE_BENCH_EVENTS events
// (default: a million), written to files below TMPDIR.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "profiler/export/export.h"
#include "profiler/model/testing/training_loop.h"

namespace vramscope::exporting {
namespace {

struct Subject {
  model::Run run;
  classify::Analysis analysis;
  Result<Content> content;

  explicit Subject(uint64_t events)
      : run(model::Load(model::testing::MakeTrainingTrace({.events = events})).value()),
        analysis(run),
        content(Content::Of(analysis, {})) {}
};

const Subject& TheSubject() {
  const char* events = std::getenv("VRAMSCOPE_BENCH_EVENTS");
  static const Subject subject(events == nullptr ? 1'000'000 : std::strtoull(events, nullptr, 10));
  return subject;
}

void Write(benchmark::State& state, const char* name, Table table, uint64_t rows) {
  const char* folder = std::getenv("TMPDIR");
  const std::string path = std::string(folder == nullptr ? "/tmp" : folder) + "/vramscope_export_bench." +
                           std::to_string(getpid());
  for (auto _ : state) {
    const Status status = FormatNamed(name)->write(*TheSubject().content, {table}, path);
    if (!status.ok()) state.SkipWithError(status.error().sentence.c_str());
    std::remove(path.c_str());
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * rows));
}

uint64_t Changes() {
  uint64_t changes = 0;  // a lower bound: changes of category are not counted
  for (const model::Device& device : TheSubject().run.devices) changes += device.changes.size();
  return changes;
}

void BM_CsvEvents(benchmark::State& state) {
  Write(state, "csv", Table::kEvents, TheSubject().run.event_count());
}
void BM_CsvBlocks(benchmark::State& state) {
  Write(state, "csv", Table::kBlocks, TheSubject().run.blocks.size());
}
void BM_CsvSeries(benchmark::State& state) { Write(state, "csv", Table::kSeries, Changes()); }
void BM_Sqlite(benchmark::State& state) {
  Write(state, "sqlite", Table::kBlocks, TheSubject().run.blocks.size() + Changes());
}
void BM_Perfetto(benchmark::State& state) { Write(state, "perfetto", Table::kBlocks, Changes()); }
void BM_Chrome(benchmark::State& state) { Write(state, "chrome", Table::kBlocks, Changes()); }

BENCHMARK(BM_CsvEvents)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CsvBlocks)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_CsvSeries)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Sqlite)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Perfetto)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Chrome)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::exporting
