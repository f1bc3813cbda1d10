// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/driver_coverage.h"

#include <stdio.h>

#include "injector/core/coverage.h"
#include "injector/core/elf_image.h"
#include "injector/core/session.h"
#include "injector/cuda/driver_call.h"
#include "injector/cuda/driver_image.h"

namespace vramscope::injector {
namespace {

constexpr char kLookups[] = "CUDA driver lookups";

constinit std::atomic<bool> listed = false;
constinit std::atomic<bool> any_proven = false;

// Functions in place and not yet called. A function that the driver lacks, or that was never looked up, is
// not missing.
void ListFunctions() {
  for (size_t i = 0; i < kDriverFunctions; ++i) {
    if (real_driver[i].load(std::memory_order_relaxed) != nullptr)
      RecordCoverage(driver_forms[i].symbol, trace::CoverageState::kHooked, nullptr);
  }
}

}  // namespace

void ProveDriverFunction(DriverFunction function) {
  any_proven.store(true, std::memory_order_relaxed);
  if (!listed.exchange(true, std::memory_order_relaxed)) ListFunctions();
  RecordCoverage(FormOf(function).symbol, trace::CoverageState::kProven, nullptr);
}

void ForgetDriverCoverage() {
  listed.store(false, std::memory_order_relaxed);
  any_proven.store(false, std::memory_order_relaxed);
  for (std::atomic<uint64_t>* const count :
       {&driver_lookups.by_dlsym, &driver_lookups.by_driver, &driver_lookups.refused})
    count->store(0, std::memory_order_relaxed);
  ForgetDriverNames();
}

void RecordDriverLookups() {
  if (driver_hooks.load(std::memory_order_relaxed) != DriverHooks::kOn) return;
  ElfImage driver;
  if (RecordingFile() == nullptr || !FindDriverImage(&driver)) return;
  const auto by_dlsym = static_cast<unsigned long long>(driver_lookups.by_dlsym.load());
  const auto by_driver = static_cast<unsigned long long>(driver_lookups.by_driver.load());
  const auto refused = static_cast<unsigned long long>(driver_lookups.refused.load());
  char detail[192];
  const int length =
      snprintf(detail, sizeof detail, "%llu lookups by dlsym, %llu by cuGetProcAddress", by_dlsym, by_driver);
  if (refused != 0 && length > 0) {
    snprintf(detail + length, sizeof detail - static_cast<size_t>(length),
             "; %llu of a second driver, which is not recorded", refused);
  }
  auto state = trace::CoverageState::kMissing;
  if (by_dlsym + by_driver != 0) state = trace::CoverageState::kHooked;
  if (any_proven.load(std::memory_order_relaxed)) state = trace::CoverageState::kProven;
  RecordCoverage(kLookups, state, detail);
}

}  // namespace vramscope::injector
