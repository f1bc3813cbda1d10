// SPDX-License-Identifier: Apache-2.0
#include "injector/core/block_filter.h"

#include "injector/core/coverage.h"
#include "injector/core/hot.h"
#include "injector/core/options.h"
#include "injector/core/session.h"

namespace vramscope::injector {

VRAMSCOPE_HOT constinit BlockFilter block_filter = {};

void ReadBlockFilter() {
  Initialize();
  const bool only_cpu = OptionIs("device", "cpu");
  const bool only_cuda = OptionIs("device", "cuda");
  const bool all = OptionIs("device", "all");
  block_filter.cpu.store(!only_cuda, std::memory_order_relaxed);
  block_filter.others.store(!only_cpu, std::memory_order_relaxed);
  block_filter.leaves_cpu.store(!only_cpu && !only_cuda && !all, std::memory_order_relaxed);
  block_filter.ready.store(1, std::memory_order_release);
}

void LeaveCpu() {
  if (block_filter.leaves_cpu.exchange(0, std::memory_order_relaxed) == 0) return;
  block_filter.cpu.store(0, std::memory_order_relaxed);
  RecordCoverage("CPU blocks", trace::CoverageState::kDisabled,
                 "the process uses another device; record with --device all to have both");
}

}  // namespace vramscope::injector
