// SPDX-License-Identifier: Apache-2.0
// The time from a trace file to its page: ten million events of a generated training run on a GPU's
// allocator, written once to a temporary file. rss_mib is the process's highest resident set, including the
// file's pages.
#include <benchmark/benchmark.h>

#include <string>

#include "profiler/experiment/savings.h"
#include "profiler/html/page.h"
#include "profiler/model/testing/trace_on_disk.h"
#include "profiler/report/build.h"

namespace vramscope::html {
namespace {

using model::testing::HighestResidentMib;
using model::testing::TraceOnDisk;

std::optional<report::Savings> UsualSavings(const classify::Analysis& analysis, model::DeviceIndex device) {
  return experiment::FindSavings(analysis, device, "");
}

void BM_Page(benchmark::State& state) {
  (void)TraceOnDisk();
  size_t bytes = 0;
  uint64_t events = 0;
  for (auto _ : state) {
    const auto run = model::LoadFile(TraceOnDisk());
    const classify::Analysis analysis(*run);
    const report::Answer answer = report::BuildAnswer(analysis, {.find_savings = UsualSavings}).value();
    bytes = MakePage({.analysis = analysis, .answer = answer, .title = "run.vms", .version = "1"}).size();
    events += run->event_count();
  }
  state.SetItemsProcessed(static_cast<int64_t>(events));
  state.counters["page_bytes"] = static_cast<double>(bytes);
  state.counters["rss_mib"] = HighestResidentMib();
}
BENCHMARK(BM_Page)->Unit(benchmark::kMillisecond)->Iterations(3);

}  // namespace
}  // namespace vramscope::html
