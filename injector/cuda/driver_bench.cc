// SPDX-License-Identifier: Apache-2.0
// What a recorded call of the driver costs the program, without the driver's own work: cuMemAlloc and
// cuMemFree of a driver that does nothing. Promised: at most 80 ns a call.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <stdlib.h>

#include "injector/core/test_session.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_entries.h"

namespace vramscope::injector {
namespace {

using driver::DevicePtr;

int Allocate(DevicePtr* pointer, size_t) {
  *pointer = 0x7f0000000000;
  return driver::kSuccess;
}
int Free(DevicePtr) { return driver::kSuccess; }

// What the hook asks, on whose device, the simulated driver answers.
void Install() {
  if (dlopen(VRAMSCOPE_SIMULATED_DRIVER, RTLD_NOW) == nullptr) abort();
  FreshCollector();
  DecideDriverHooks();
  real_driver[static_cast<size_t>(DriverFunction::cuMemAlloc_v2)] = reinterpret_cast<void*>(&Allocate);
  real_driver[static_cast<size_t>(DriverFunction::cuMemFree_v2)] = reinterpret_cast<void*>(&Free);
}

void AllocateAndFree(benchmark::State& state) {
  Install();
  TestCollector& collector = FreshCollector();
  DevicePtr pointer = 0;
  const uint64_t batch = kTestRingBytes / 256;
  uint64_t calls = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(driver::cuMemAlloc_v2(&pointer, 2 << 20));
    benchmark::DoNotOptimize(driver::cuMemFree_v2(pointer));
    if (++calls % batch == 0) {
      state.PauseTiming();
      collector.Drain();
      collector.Clear();
      state.ResumeTiming();
    }
  }
  state.counters["per_call"] = benchmark::Counter(2.0 * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(AllocateAndFree);

}  // namespace
}  // namespace vramscope::injector
