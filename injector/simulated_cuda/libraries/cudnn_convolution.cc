// SPDX-License-Identifier: Apache-2.0
// cuDNN's older interface to convolutions: one algorithm, which needs no workspace.
#include <cstring>

#include "injector/simulated_cuda/abi.h"

namespace {

// cudnnConvolution{Fwd,BwdData,BwdFilter}AlgoPerf_t
struct Performance {
  int algorithm;
  int status;
  float time;
  size_t memory;
  int determinism;
  int math_type;
  int reserved[3];
};
static_assert(sizeof(Performance) == 48);

// Algorithm 1, which is "implicit precomputed GEMM", "algorithm 1", "algorithm 1": PyTorch considers them
// deterministic.
int OneAlgorithm(int requested, int* returned, Performance* results) {
  *returned = requested > 0 ? 1 : 0;
  if (requested <= 0) return 0;
  std::memset(results, 0, sizeof(*results));
  results->algorithm = 1;
  results->determinism = 1;
  return 0;
}

}  // namespace

#define GET_ALGORITHM(name)                                                                  \
  SIMULATED_EXPORT int name(void*, void*, void*, void*, void*, int requested, int* returned, \
                            Performance* results) {                                          \
    return OneAlgorithm(requested, returned, results);                                       \
  }
GET_ALGORITHM(cudnnGetConvolutionForwardAlgorithm_v7)
GET_ALGORITHM(cudnnGetConvolutionBackwardDataAlgorithm_v7)
GET_ALGORITHM(cudnnGetConvolutionBackwardFilterAlgorithm_v7)

#define FIND_ALGORITHM(name)                                                                       \
  SIMULATED_EXPORT int name(void*, void*, void*, void*, void*, void*, void*, void*, int requested, \
                            int* returned, Performance* results, void*, size_t) {                  \
    return OneAlgorithm(requested, returned, results);                                             \
  }
FIND_ALGORITHM(cudnnFindConvolutionForwardAlgorithmEx)
FIND_ALGORITHM(cudnnFindConvolutionBackwardDataAlgorithmEx)
FIND_ALGORITHM(cudnnFindConvolutionBackwardFilterAlgorithmEx)
