// SPDX-License-Identifier: Apache-2.0
// The cost of one record for the recorded program while the ring is warm and drained.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "injector/core/intern.h"
#include "injector/core/test_collector.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector {
namespace {

// A collector that only frees the space, often enough that the writer never waits.
class Drained {
 public:
  Drained() : collector_("ring_bytes=1048576") {
    StartSession();
    drain_ = std::jthread([this](std::stop_token stop) {
      while (!stop.stop_requested()) {
        if (trace::RingHeader* const ring = ring_.load()) ring->tail.store(ring->head.load());
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
    Record(trace::EventType::kMark, 0, 0, 0, 0);
    ring_ = thread_ring.header;
  }

 private:
  TestCollector collector_;
  std::atomic<trace::RingHeader*> ring_ = nullptr;
  std::jthread drain_;
};

Drained& Session() {
  static Drained session;
  return session;
}

void Free(benchmark::State& state) {
  Session();
  uint64_t address = 0x7F0000000000;
  for (auto _ : state) benchmark::DoNotOptimize(Record(trace::EventType::kFree, 0xFF, 0, address += 64, 0));
}
BENCHMARK(Free);

void AllocWithTotals(benchmark::State& state) {
  Session();
  uint64_t address = 0x7F0000000000;
  for (auto _ : state) {
    address += 64;
    benchmark::DoNotOptimize(
        RecordAfterAll(trace::EventType::kAlloc, 0x100, 0, address, 512, 0, 0, address, address));
  }
}
BENCHMARK(AllocWithTotals);

void ClockAlone(benchmark::State& state) {
  Session();
  for (auto _ : state) benchmark::DoNotOptimize(Ticks());
}
BENCHMARK(ClockAlone);

void KnownString(benchmark::State& state) {
  Session();
  for (auto _ : state) benchmark::DoNotOptimize(InternString("transformer.h.0.attn.c_attn.weight"));
}
BENCHMARK(KnownString);

}  // namespace
}  // namespace vramscope::injector
