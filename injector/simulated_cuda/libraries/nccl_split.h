// SPDX-License-Identifier: Apache-2.0
// ncclCommSplit: who else has this color the ranks of the parent tell each other
// (injector/simulated_cuda/device/group_calls.h). A rank alone is told by PyTorch, which knows the list of
// the group (vramscope_dryrun/groups.py); what nobody knows counts as large as the parent, whose buffers are
// at least those of a part of it.
#pragma once

#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// A new communicator, of which the others learn, with what it takes at once.
int BeginCommunicator(Communicator** communicator, uint64_t id, int ranks, int rank, const NcclConfig* config,
                      const Communicator* parent);

// Waits for the other ranks, or, inside a group, leaves that to FinishSplits: one thread may split the
// communicators of several devices.
int Split(Communicator* parent, int color, int key, Communicator** communicator, const NcclConfig* config);
// The outermost group has ended.
int FinishSplits();

}  // namespace vramscope::simulated
