// SPDX-License-Identifier: Apache-2.0
// ncclCommSplit. The ranks of the parent tell each other their colors
// (injector/simulated_cuda/device/group_calls.h). In a dry run of a single rank, the group's size comes from
// PyTorch, which knows the group's list of ranks (vramscope_dryrun/groups.py). A group of unknown size is
// assumed to be as large as its parent, so its buffers are not underestimated.
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// Creates a communicator, announces it to the other ranks, and takes the memory that it needs at once.
int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent);

// Waits for the other ranks. Between ncclGroupStart and ncclGroupEnd it does not wait, and FinishSplits does:
// one thread may split the communicators of several devices.
int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config);
// Call it when the outermost ncclGroupEnd is reached.
int FinishSplits();

}  // namespace vramscope::simulated
