// SPDX-License-Identifier: Apache-2.0
// Computes the memory that a communicator would take on every GPU model of gpus.def (elsewhere.h). Buffer
// sizes differ between models (nccl_memory.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/simulated_cuda/libraries/nccl_memory.h"

namespace vramscope::simulated {

// One communicator's memory on each model. When the process ends, the highest sum over its communicators is
// reported for each model. The functions do nothing unless VRAMSCOPE_SIMULATED_ELSEWHERE is set.
class NcclElsewhere {
 public:
  using Part = uint64_t NcclMemory::*;

  NcclElsewhere() = default;
  ~NcclElsewhere();
  NcclElsewhere(const NcclElsewhere&) = delete;
  NcclElsewhere& operator=(const NcclElsewhere&) = delete;

  // Adds the code of NCCL's kernels, once per process.
  static void CountCode();
  // Computes the sizes for this communicator. `sharing_parent`: number of ranks of the parent communicator,
  // if this communicator uses the parent's resources; otherwise 0.
  void Plan(const NcclSettings& settings, int release, int ranks, int rank, int sharing_parent);
  // Adds a part of the memory. TakeOnce adds the part only at its first call.
  void Take(Part part);
  void TakeOnce(Part part);
  void TakeReceivePool();

 private:
  struct Model {
    NcclMemory plan;
    uint64_t receive_pool = 0;
    uint64_t taken = 0;
  };
  void Add(size_t model, uint64_t bytes);

  std::vector<Model> models_;  // in the order of gpus.def; empty if not requested
};

}  // namespace vramscope::simulated
