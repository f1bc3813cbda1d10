// SPDX-License-Identifier: Apache-2.0
// CUPTI. Profilers may subscribe; there are never any records.
#include "injector/simulated_cuda/abi.h"

namespace {

constexpr int kNoMoreRecords = 12;  // CUPTI_ERROR_MAX_LIMIT_REACHED
constexpr uint32_t kVersion = 130000;

}  // namespace

SIMULATED_EXPORT int cuptiActivityGetNextRecord(void*, size_t, void** record) {
  *record = nullptr;
  return kNoMoreRecords;
}
SIMULATED_EXPORT int cuptiSubscribe(void** subscriber, void*, void*) {
  static int one;
  *subscriber = &one;
  return 0;
}
SIMULATED_EXPORT int cuptiGetVersion(uint32_t* version) {
  *version = kVersion;
  return 0;
}
SIMULATED_EXPORT int cuptiGetCallbackName(int, uint32_t, const char** name) {
  *name = "simulated";
  return 0;
}
SIMULATED_EXPORT int cuptiGetResultString(int, const char** text) {
  *text = "an error of the simulated device";
  return 0;
}
