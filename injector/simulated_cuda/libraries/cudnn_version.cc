// SPDX-License-Identifier: Apache-2.0
// The version of this cuDNN: the one the wheel was built for.
#include <cstdlib>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/wheel_requirement.h"

using namespace vramscope::simulated;

namespace {

// VRAMSCOPE_SIMULATED_CUDNN, or the wheel's, or else one that any release of PyTorch since 2.4 accepts.
size_t Version() {
  static const size_t version = [] {
    if (const char* const asked = std::getenv("VRAMSCOPE_SIMULATED_CUDNN"))
      return static_cast<size_t>(std::strtoul(asked, nullptr, 10));
    const Release release = RequiredRelease("nvidia-cudnn-cu");
    return release.major == 0
               ? size_t{91000}
               : static_cast<size_t>(release.major * 10000 + release.minor * 100 + release.patch);
  }();
  return version;
}

}  // namespace

SIMULATED_EXPORT size_t cudnnGetVersion() { return Version(); }

SIMULATED_EXPORT int cudnnGetProperty(int which, int* value) {
  const auto version = static_cast<int>(Version());
  const int parts[] = {version / 10000, version / 100 % 100, version % 100};
  if (which < 0 || which > 2) return 2000;
  *value = parts[which];
  return 0;
}

// cuDNN's own CUDA; PyTorch does not compare it.
SIMULATED_EXPORT size_t cudnnGetCudartVersion() { return 13000; }

SIMULATED_EXPORT const char* cudnnGetErrorString(int status) {
  return status == 0 ? "CUDNN_STATUS_SUCCESS" : "CUDNN_STATUS_NOT_SUPPORTED";
}
SIMULATED_EXPORT void cudnnGetLastErrorString(char* text, size_t capacity) {
  if (capacity != 0) *text = '\0';
}
