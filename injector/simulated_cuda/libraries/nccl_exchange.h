// SPDX-License-Identifier: Apache-2.0
// Sends small integers between running ranks: sizes, shapes, token counts, flags and pickles. nccl_data.h
// fills all other buffers.
//
// A call waits on the host for data from other ranks. Inside an NCCL group, a rank therefore first sends all
// its data and waits only when the group ends.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// ncclDataType_t begins with int8, uint8, int32, uint32, int64, uint64.
inline constexpr int kIntegerTypes = 6;
inline constexpr size_t kMostExchangedBytes = 64 << 10;

// The functions below exchange buffers of at most kMostExchangedBytes with one of the types above. If a
// function returns false, the caller must proceed as if there were no other ranks. `wanted` is false if this
// rank does not need the reduced data. `from` and `to` are device memory. The caller may overwrite `from`
// after the call. `to` is filled in the call or, inside a group, in FinishExchanges().
bool ExchangeReduced(const void* from, void* to, size_t count, int type, int operation, bool wanted,
                     Communicator& communicator, void* stream);
bool ExchangeFromRoot(const void* from, void* to, size_t bytes, int type, int root,
                      Communicator& communicator, void* stream);
bool ExchangeGathered(const void* from, void* to, size_t bytes, int type, Communicator& communicator,
                      void* stream);
bool ExchangeSent(const void* from, size_t bytes, int type, int peer, Communicator& communicator);
bool ExchangeReceived(void* to, size_t bytes, int type, int peer, Communicator& communicator, void* stream);

// Waits for the data of the group. Call before the outermost group ends.
void FinishExchanges();

}  // namespace vramscope::simulated
