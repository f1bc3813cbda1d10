// SPDX-License-Identifier: Apache-2.0
// The memory of a communicator on the other models of gpus.def (elsewhere.h), with their own buffer sizes
// (nccl_memory.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "injector/simulated_cuda/libraries/nccl_memory.h"

namespace vramscope::simulated {

// One communicator's memory, until destroyed. At the process's end, reports the highest sum over
// communicators for each model. Does nothing unless requested.
class NcclElsewhere {
 public:
  using Part = uint64_t NcclMemory::*;

  NcclElsewhere() = default;
  ~NcclElsewhere();
  NcclElsewhere(const NcclElsewhere&) = delete;
  NcclElsewhere& operator=(const NcclElsewhere&) = delete;

  // The code of NCCL's kernels, once per process.
  static void CountCode();
  // `sharing_parent`: ranks of the parent whose resources it shares; 0 = none.
  void Plan(const NcclSettings& settings, int release, int ranks, int rank, int sharing_parent);
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
