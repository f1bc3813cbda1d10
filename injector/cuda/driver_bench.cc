// SPDX-License-Identifier: Apache-2.0
// The cost of a driver call for the program, without the driver's own work: recorded calls (cuMemAlloc and
// cuMemFree of a driver that does nothing), and launches, which are passed on. Promised: at most 80 ns a
// call.
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

// The simulated driver answers the hook's query for the current device.
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

int Launch(driver::Handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           driver::Handle, void**, void**) {
  return driver::kSuccess;
}

// Kernels that were launched before, like nearly all kernels of a training step. Their number is that of a
// large model.
void LaunchAgain(benchmark::State& state) {
  Install();
  real_driver[static_cast<size_t>(DriverFunction::cuLaunchKernel)] = reinterpret_cast<void*>(&Launch);
  static int kernels[1024] = {};
  for (int& kernel : kernels)
    driver::cuLaunchKernel(&kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr);
  size_t next = 0;
  for (auto _ : state) {
    int& kernel = kernels[next++ * 37 % 1024];
    benchmark::DoNotOptimize(
        driver::cuLaunchKernel(&kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, nullptr));
  }
}
BENCHMARK(LaunchAgain);

}  // namespace
}  // namespace vramscope::injector
