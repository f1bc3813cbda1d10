// SPDX-License-Identifier: Apache-2.0
// How many records one core drains per second, from the rings to compressed blocks: pairs of an allocation
// and its free, as in a training step.
#include <benchmark/benchmark.h>

#include "profiler/collector/order/drain.h"
#include "profiler/collector/testing/ring_writer.h"

namespace vramscope::collector {
namespace {

using testing::RingMemory;
using testing::RingWriter;

class NoSink final : public trace::ByteSink {
 public:
  Status Write(std::span<const std::byte>) override { return {}; }
};

void DrainRings(benchmark::State& state) {
  const auto rings = static_cast<uint32_t>(state.range(0));
  constexpr uint64_t kPairs = 4000;  // half of a ring
  RingMemory memory({.pid = 1, .rings = rings, .ring_bytes = 1 << 20});
  std::vector<std::unique_ptr<RingWriter>> writers;
  for (uint32_t i = 0; i < rings; ++i) writers.push_back(std::make_unique<RingWriter>(memory, i));
  const ClockMap clock{ClockAnchor{}};
  auto output = TraceOutput::Create(std::make_unique<NoSink>(), trace::TraceClock{}, 0);
  Drain drain(**output, clock, 0);
  auto file = RingFile::Attach(memory.data(), memory.size(), "1.0.ring");
  drain.AddProcess(std::move(*file), "", "", "");
  uint64_t now = 0;
  uint64_t records = 0;
  for (auto _ : state) {
    state.PauseTiming();
    for (uint64_t i = 0; i < kPairs; ++i) {
      for (uint32_t ring = 0; ring < rings; ++ring) {
        const uint64_t address = 0x7f0000000000 + (i * rings + ring) * 64 % 65536;
        writers[ring]->Alloc(now += 97, address, 4096);
        writers[ring]->Free(now += 61, address);
      }
    }
    state.ResumeTiming();
    records += drain.Pass(now + 1).records;
  }
  state.SetItemsProcessed(static_cast<int64_t>(records));
}
BENCHMARK(DrainRings)->Arg(1)->Arg(2)->Arg(16)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace vramscope::collector
