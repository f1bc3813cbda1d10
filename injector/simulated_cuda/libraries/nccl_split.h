// SPDX-License-Identifier: Apache-2.0
// Implements ncclCommSplit. The ranks of the parent communicator exchange their colors
// (injector/simulated_cuda/device/group_calls.h). In a dry run of a single rank, the size of the new group
// comes from PyTorch (vramscope_dryrun/groups.py). If that size is unknown, the group counts as large as its
// parent.
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// Creates a communicator, announces it to the other ranks, and allocates its first memory.
int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent);

// Splits a communicator, and waits for the other ranks. Between ncclGroupStart and ncclGroupEnd, FinishSplits
// waits instead, because one thread may split the communicators of several devices.
int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config);
// Completes the splits since ncclGroupStart. Call at the outermost ncclGroupEnd.
int FinishSplits();

}  // namespace vramscope::simulated
