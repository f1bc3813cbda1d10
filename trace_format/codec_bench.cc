// SPDX-License-Identifier: Apache-2.0
// Write and read speed, and bytes per event, on event streams like those of training runs
// (testing/training_stream.h).
#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "trace_format/crc32.h"
#include "trace_format/reader.h"
#include "trace_format/testing/memory_sink.h"
#include "trace_format/testing/training_stream.h"
#include "trace_format/writer.h"

namespace vramscope::trace {
namespace {

constexpr size_t kEvents = 1'000'000;

const std::vector<Event>& Stream() {
  static const std::vector<Event> events = [] {
    std::vector<Event> made;
    testing::TrainingStream stream(1);
    while (made.size() < kEvents) stream.AppendStep(&made);
    return made;
  }();
  return events;
}

Bytes Written(std::span<const Event> events, TraceWriter::Options options) {
  Bytes bytes;
  auto writer =
      std::move(TraceWriter::Create(std::make_unique<testing::MemorySink>(&bytes), {}, options)).value();
  writer->AddThread({writer->AddProcess({}), 1, "main"});
  bool ok = true;
  // Like the collector: a few thousand at a time.
  for (size_t at = 0; at < events.size(); at += 4096) {
    ok &= writer->Append(events.subspan(at, std::min<size_t>(4096, events.size() - at))).ok();
  }
  ok &= writer->Close().ok();
  return ok ? bytes : Bytes();
}

void Report(benchmark::State& state, size_t events, size_t bytes) {
  state.counters["events"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_event"] = static_cast<double>(bytes) / static_cast<double>(events);
}

void BM_WriteTrainingRun(benchmark::State& state) {
  const std::vector<Event>& events = Stream();
  TraceWriter::Options options;
  options.zstd_level = static_cast<int>(state.range(0));
  size_t bytes = 0;
  for (auto _ : state) bytes = Written(events, options).size();
  Report(state, events.size(), bytes);
}
BENCHMARK(BM_WriteTrainingRun)->Arg(1)->Arg(3)->Arg(6)->Unit(benchmark::kMillisecond);

void BM_ReadTrainingRun(benchmark::State& state) {
  const Bytes trace = Written(Stream(), {});
  size_t seen = 0;
  for (auto _ : state) {
    const auto reader = std::move(TraceReader::OpenBytes(trace, "bench")).value();
    seen = 0;
    uint64_t sum = 0;
    const Status read = reader->ForEachBatch([&](std::span<const Event> batch) {
      seen += batch.size();
      for (const Event& event : batch) sum += event.time_ns;
      return true;
    });
    benchmark::DoNotOptimize(sum);
    if (!read.ok()) state.SkipWithError("cannot read");
  }
  Report(state, seen, trace.size());
}
BENCHMARK(BM_ReadTrainingRun)->Unit(benchmark::kMillisecond);

void BM_LiveAt(benchmark::State& state) {
  const Bytes trace = Written(Stream(), {});
  const auto reader = std::move(TraceReader::OpenBytes(trace, "bench")).value();
  uint64_t time = 0;
  for (auto _ : state) {
    time = (time + 0x9E3779B97F4A7C15) % reader->last_time_ns();
    benchmark::DoNotOptimize(reader->LiveAt(time));
  }
}
BENCHMARK(BM_LiveAt)->Unit(benchmark::kMillisecond);

void BM_Crc32(benchmark::State& state) {
  const Bytes bytes(1 << 20);
  for (auto _ : state) benchmark::DoNotOptimize(Crc32(bytes));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(BM_Crc32);

}  // namespace
}  // namespace vramscope::trace
