// SPDX-License-Identifier: Apache-2.0
// Measures one what-if question about a step of about 100,000 events, and a whole plan for it. One step is
// hand-written; the other is recorded, if VRAMSCOPE_BENCH_RUN names a run. A recorded step also has modules,
// functions and kernels that levers visit.
//
//   vramscope dryrun --gpu h100-80gb -o deep.vms --
//       python3 samples/gpt.py --device cuda --layers 24 --optimizer-impl for-loop --steps 4
//   VRAMSCOPE_BENCH_RUN=deep.vms plan_bench
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>

#include "profiler/model/run.h"
#include "profiler/plan/plan.h"
#include "profiler/whatif/testing/block_loop.h"

namespace vramscope::plan {
namespace {

// Blocks of different sizes; each operator has six events and one memory block.
std::vector<whatif::BlockShape> Blocks(size_t count, int operators) {
  std::vector<whatif::BlockShape> blocks(count);
  for (size_t i = 0; i < count; ++i) blocks[i] = {32768 * (1 + i % 4), operators};
  return blocks;
}

const whatif::BlockLoop& Large() {
  static const whatif::BlockLoop loop(Blocks(6, 2'700));
  return loop;
}

// More modules than an exhaustive search can handle.
const whatif::BlockLoop& Deep() {
  static const whatif::BlockLoop loop(Blocks(24, 675));
  return loop;
}

struct Asking {
  const whatif::Step* step = nullptr;
  const whatif::Baseline* baseline = nullptr;
};
Asking OfLoop(const whatif::BlockLoop& loop) { return {&loop.step(), &loop.baseline()}; }

void OneLever(benchmark::State& state, const Asking& of, const char* lever, const char* value) {
  whatif::Predictor predictor(*of.step, *of.baseline);
  for (auto _ : state) benchmark::DoNotOptimize(predictor.Predict({{lever, value}}));
  state.counters["events"] = static_cast<double>(of.step->length);
  state.counters["blocks"] = static_cast<double>(of.baseline->scene.blocks.size());
}

// The first question also computes what all questions about that lever share.
void FirstTime(benchmark::State& state, const Asking& of, const char* lever, const char* value) {
  for (auto _ : state) {
    state.PauseTiming();
    const whatif::Step unknown = *of.step;
    state.ResumeTiming();
    benchmark::DoNotOptimize(whatif::Predict(unknown, *of.baseline, {{lever, value}}));
  }
}

void Sweep(benchmark::State& state, const Asking& of) {
  constexpr int kPoints = 20;
  for (auto _ : state) {
    whatif::Predictor predictor(*of.step, *of.baseline);
    for (int batches = 1; batches <= kPoints; ++batches)
      benchmark::DoNotOptimize(predictor.Predict({{"accumulate", std::to_string(batches) + ":whole"}}));
  }
}

void Whole(benchmark::State& state, const Asking& of) {
  const uint64_t reserved = of.baseline->use.allocator.reserved_peak;
  const Request request{reserved * static_cast<uint64_t>(state.range(0)) / 100, UsualLevers(), 3};
  Answer answer;
  for (auto _ : state) answer = MakePlans(*of.step, *of.baseline, request);
  state.counters["replays"] = static_cast<double>(answer.replays);
  state.counters["plans"] = static_cast<double>(answer.plans.size());
}

void Register(const std::string& name, const Asking& of,
              std::initializer_list<std::pair<const char*, const char*>> levers) {
  using benchmark::RegisterBenchmark;
  for (const auto& [lever, value] : levers) {
    const std::string question = name + "/" + lever + "=" + value;
    RegisterBenchmark(question.c_str(), OneLever, of, lever, value)->Unit(benchmark::kMillisecond);
    RegisterBenchmark((question + "/first").c_str(), FirstTime, of, lever, value)
        ->Unit(benchmark::kMillisecond);
  }
  RegisterBenchmark((name + "/sweep").c_str(), Sweep, of)->Unit(benchmark::kMillisecond);
  auto* const plans = RegisterBenchmark((name + "/plan").c_str(), Whole, of)->Unit(benchmark::kMillisecond);
  for (const int percent : {90, 60, 30, 20, 10}) plans->Arg(percent);
}

// Lives as long as the registered benchmarks.
struct Recorded {
  model::Run run;
  std::optional<classify::Analysis> analysis;
  whatif::Step step;
  whatif::Baseline baseline;
};

// The step of the first device that has one, or a sentence.
Result<std::unique_ptr<Recorded>> Read(const char* path) {
  auto recorded = std::make_unique<Recorded>();
  recorded->run = VRAMSCOPE_TRY(model::LoadFile(path));
  recorded->analysis.emplace(recorded->run);
  for (model::DeviceIndex device = 0; device < recorded->run.devices.size(); ++device) {
    if (trace::DeviceTypeOf(recorded->run.devices[device].code) == 0) continue;
    recorded->step = VRAMSCOPE_TRY(whatif::ReadStep(*recorded->analysis, device));
    recorded->baseline = VRAMSCOPE_TRY(whatif::MakeBaseline(recorded->step, *recorded->analysis));
    return recorded;
  }
  return Error{std::string(path) + ": nothing was allocated on a GPU."};
}

}  // namespace
}  // namespace vramscope::plan

int main(int argc, char** argv) {
  using namespace vramscope::plan;
  benchmark::Initialize(&argc, argv);
  Register("loop_of_6", OfLoop(Large()),
           {{"checkpoint", "all"}, {"optimizer", "sgd"}, {"accumulate", "2:whole"}});
  Register("loop_of_24", OfLoop(Deep()), {});
  std::unique_ptr<Recorded> recorded;
  if (const char* const path = std::getenv("VRAMSCOPE_BENCH_RUN")) {
    auto read = Read(path);
    if (!read.ok()) {
      std::fprintf(stderr, "plan_bench: %s\n", read.error().sentence.c_str());
      return 1;
    }
    recorded = std::move(*read);
    Register("recorded", {&recorded->step, &recorded->baseline},
             {{"checkpoint", "all"},
              {"accumulate", "2:whole"},
              {"optimizer", "sgd"},
              {"shard", "zero2:8"},
              {"shard", "fsdp:8"},
              {"offload", "activations"},
              {"free-early", "all"},
              {"alloc-conf", "expandable_segments:True"}});
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
