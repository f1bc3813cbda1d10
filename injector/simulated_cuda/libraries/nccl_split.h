// SPDX-License-Identifier: Apache-2.0
// ncclCommSplit. The ranks of the parent tell each other their colors
// (injector/simulated_cuda/device/group_calls.h). A single rank gets the group's size from PyTorch, which
// knows the list of the group (vramscope_dryrun/groups.py). A group of unknown size is assumed to be as
// large as its parent, so its buffers are not underestimated.
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// Creates a communicator, announces it to the others, and takes the memory that it needs at once.
int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent);

// Waits for the other ranks. Inside a group it leaves that to FinishSplits: one thread may split the
// communicators of several devices.
int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config);
// The outermost group has ended.
int FinishSplits();

}  // namespace vramscope::simulated
