// SPDX-License-Identifier: Apache-2.0
// The cost of a pushed and popped range for the program while the ring is warm and drained, through the
// pointers that NVTX calls.
#include <benchmark/benchmark.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "injector/core/test_collector.h"
#include "injector/core/thread_ring.h"
#include "injector/nvtx/abi.h"

extern "C" int InitializeInjectionNvtx2(vramscope::injector::nvtx::GetExportTable);

namespace vramscope::injector::nvtx {
namespace {

// A collector that only frees the space, often enough that the writer never waits.
class Drained {
 public:
  Drained() : collector_("ring_bytes=1048576") {
    StartSession();
    Record(trace::EventType::kMark, 0, 0, 0, 0);
    drain_ = std::jthread([ring = thread_ring.header](std::stop_token stop) {
      while (!stop.stop_requested()) {
        ring->tail.store(ring->head.load());
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    });
  }

 private:
  TestCollector collector_;
  std::jthread drain_;
};

// The part of NVTX that lies in a program.
AnyFunction functions[kCoreSize];
AnyFunction* table[kCoreSize];

int GetTable(uint32_t module, AnyFunction*** out, unsigned* size) {
  *out = table;
  *size = kCoreSize;
  return module == kCore ? 1 : 0;
}

const void* GetTables(uint32_t) {
  static const CallbackTables tables = {sizeof(CallbackTables), GetTable};
  return &tables;
}

void StartListening() {
  static Drained drained;
  for (unsigned i = 1; i < kCoreSize; ++i) table[i] = &functions[i];
  if (functions[kRangePop] == nullptr) InitializeInjectionNvtx2(GetTables);
}

void PushAndPop(benchmark::State& state) {
  StartListening();
  const auto push = reinterpret_cast<int (*)(const char*)>(functions[kRangePushA]);
  const auto pop = reinterpret_cast<int (*)()>(functions[kRangePop]);
  for (auto _ : state) {
    benchmark::DoNotOptimize(push("transformer layer 17"));
    benchmark::DoNotOptimize(pop());
  }
}
BENCHMARK(PushAndPop);

void TwoRecordsAlone(benchmark::State& state) {
  StartListening();
  for (auto _ : state) {
    benchmark::DoNotOptimize(Record(trace::EventType::kRangeBegin, 8, 1, 0));
    benchmark::DoNotOptimize(Record(trace::EventType::kRangeEnd, 8, 1, 0));
  }
}
BENCHMARK(TwoRecordsAlone);

}  // namespace
}  // namespace vramscope::injector::nvtx
