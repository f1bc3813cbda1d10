// SPDX-License-Identifier: Apache-2.0
#include "injector/core/coverage.h"

#include "injector/core/intern.h"
#include "injector/core/thread_ring.h"

namespace vramscope::injector {

void RecordCoverage(const char* hook, trace::CoverageState state, const char* detail) {
  const uint32_t name = InternString(hook);
  if (name == 0) return;
  const uint32_t text = detail == nullptr ? 0 : InternString(detail);
  Record(trace::EventType::kCoverage, static_cast<uint16_t>(state), name, text);
}

}  // namespace vramscope::injector
