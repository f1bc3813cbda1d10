// SPDX-License-Identifier: Apache-2.0
// Sends small integers between ranks if the other ranks run: sizes, shapes, token counts, flags and pickles,
// because ranks base decisions on them. No other data is sent: nccl_data.h fills those buffers.
//
// Here the host waits inside the call for the other ranks' values; with NCCL the stream would wait. So a rank
// sends everything in a group of calls before it waits for anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// ncclDataType_t begins with int8, uint8, int32, uint32, int64, uint64.
inline constexpr int kIntegerTypes = 6;
inline constexpr size_t kMostExchangedBytes = 64 << 10;

// These act only on the types above. All return false otherwise: the caller then proceeds as without other
// ranks. `to` and `from` are device memory; `from` has been read when these return. Arriving data is written
// now or, in a group, by FinishExchanges.
bool ExchangeReduced(const void* from, void* to, size_t count, int type, int operation, bool wanted,
                     Communicator& communicator, void* stream);
bool ExchangeFromRoot(const void* from, void* to, size_t bytes, int type, int root,
                      Communicator& communicator, void* stream);
bool ExchangeGathered(const void* from, void* to, size_t bytes, int type, Communicator& communicator,
                      void* stream);
bool ExchangeSent(const void* from, size_t bytes, int type, int peer, Communicator& communicator);
bool ExchangeReceived(void* to, size_t bytes, int type, int peer, Communicator& communicator, void* stream);

// The outermost group is about to end.
void FinishExchanges();

}  // namespace vramscope::simulated
