// SPDX-License-Identifier: Apache-2.0
// The viewer's work between a file and a picture, on a training loop of a million events
// (VRAMSCOPE_BENCH_EVENTS for another number): analyzing the run, and the timeline's columns while zooming
// and panning.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "profiler/model/testing/script.h"
#include "profiler/model/testing/training_loop.h"
#include "viewer/model/address_time.h"
#include "viewer/model/live_table.h"
#include "viewer/model/timeline_picture.h"

namespace vramscope::viewer {
namespace {

constexpr size_t kColumns = 1900;

model::Run LoadRun() {
  const char* events = std::getenv("VRAMSCOPE_BENCH_EVENTS");
  model::testing::TrainingShape shape;
  shape.events = events == nullptr ? 1'000'000 : std::strtoull(events, nullptr, 10);
  return model::Load(model::testing::MakeTrainingTrace(shape)).value();
}

const Document& Opened() {
  static const std::unique_ptr<Document> document = MakeDocument("bench.vms", LoadRun(), nullptr);
  return *document;
}

void Open(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    model::Run run = LoadRun();
    state.ResumeTiming();
    benchmark::DoNotOptimize(MakeDocument("bench.vms", std::move(run), nullptr));
  }
}
BENCHMARK(Open)->Unit(benchmark::kMillisecond)->Iterations(1);

// A view of 1/range of the run, moved by a tenth of itself each time.
void Timeline(benchmark::State& state) {
  const Document& document = Opened();
  TimeView view(static_cast<double>(document.run->times.last_ns()));
  view.Zoom(static_cast<double>(state.range(0)), 0);
  for (auto _ : state) {
    view.Pan(view.end() >= view.whole() ? -view.whole() : view.width() / 10);
    benchmark::DoNotOptimize(DrawTimeline(document, *document.devices[0], view, kColumns));
  }
}
BENCHMARK(Timeline)->Arg(1)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

void ShowOneCategory(benchmark::State& state) {
  const Document& document = Opened();
  CategoryMask mask = kAllCategories;
  for (auto _ : state) document.devices[0]->series.Show(mask ^= 1);
}
BENCHMARK(ShowOneCategory)->Unit(benchmark::kMillisecond);

void LiveBlocksAtAMoment(benchmark::State& state) {
  const Document& document = Opened();
  LiveTable table;
  model::EventIndex moment = document.run->event_count() / 2;
  for (auto _ : state) table.Update(document, *document.devices[0], ++moment, "");
  state.counters["blocks"] = static_cast<double>(table.live_count());
}
BENCHMARK(LiveBlocksAtAMoment)->Unit(benchmark::kMillisecond);

void AddressTimeIndexing(benchmark::State& state) {
  const Document& document = Opened();
  for (auto _ : state)
    benchmark::DoNotOptimize(AddressTimeIndex(*document.run, document.devices[0]->index, LayoutView()));
}
BENCHMARK(AddressTimeIndexing)->Unit(benchmark::kMillisecond)->Iterations(1);

// Drawn on a thread while the last picture stays; a view of 1/range of the run.
void AddressTime(benchmark::State& state) {
  const Document& document = Opened();
  static const AddressTimeIndex index(*document.run, document.devices[0]->index, LayoutView());
  AddressTimeWindow window{TimeView(static_cast<double>(document.run->times.last_ns())), 0, 1, kColumns, 700};
  window.time.Zoom(static_cast<double>(state.range(0)), 0);
  BlockColors colors;
  size_t pieces = 0;
  for (auto _ : state) {
    window.time.Pan(window.time.end() >= window.time.whole() ? -window.time.whole()
                                                             : window.time.width() / 10);
    const AddressTimePicture picture = DrawAddressTime(document, *document.devices[0], index, window, colors);
    pieces = picture.blocks.size() + picture.merged.size();
  }
  state.counters["rectangles"] = static_cast<double>(pieces);
}
BENCHMARK(AddressTime)->Arg(1)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

// A million ranges in two lanes.
void Lanes(benchmark::State& state) {
  static const model::Run run = [] {
    model::testing::Script s;
    s.Alloc("a", 8);
    for (int i = 0; i < 500'000; ++i) {
      s.Range(trace::RangeKind::kNvtx, "outer", 0,
              [&] { s.Range(trace::RangeKind::kNvtx, "inner", 0, [] {}); });
    }
    return s.Load();
  }();
  static const RangeLanes lanes(run, 0);
  TimeView view(static_cast<double>(run.times.last_ns()));
  view.Zoom(static_cast<double>(state.range(0)), 0);
  for (auto _ : state) {
    view.Pan(view.end() >= view.whole() ? -view.whole() : view.width() / 10);
    for (size_t lane = 0; lane < lanes.lanes().size(); ++lane)
      benchmark::DoNotOptimize(lanes.Pieces(lane, view, kColumns));
  }
}
BENCHMARK(Lanes)->Arg(1)->Arg(10)->Arg(1000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::viewer
