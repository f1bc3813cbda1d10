// SPDX-License-Identifier: Apache-2.0
// cuBLASLt. One algorithm fits every product and needs no workspace of its own (PyTorch passes one and counts
// it).
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace {

struct HeuristicResult {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

}  // namespace

SIMULATED_EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void*,
                                                    int requested, HeuristicResult* results, int* count) {
  *count = requested > 0 ? 1 : 0;
  if (requested > 0) std::memset(results, 0, sizeof(*results));
  return 0;
}

SIMULATED_EXPORT size_t cublasLtGetVersion() { return 130000; }
SIMULATED_EXPORT size_t cublasLtGetCudartVersion() { return 13000; }
