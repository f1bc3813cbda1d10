// SPDX-License-Identifier: Apache-2.0
// ncclCommSplit. The ranks of the parent exchange their colors
// (injector/simulated_cuda/device/group_calls.h). In a dry run of a single rank, PyTorch knows the group's
// size (vramscope_dryrun/groups.py). A group of unknown size counts as large as its parent.
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// Creates and announces a communicator, and takes its first memory.
int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent);

// Waits for the other ranks. In a group of calls, FinishSplits waits instead: one thread may split
// communicators of several devices.
int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config);
// Call at the outermost ncclGroupEnd.
int FinishSplits();

}  // namespace vramscope::simulated
