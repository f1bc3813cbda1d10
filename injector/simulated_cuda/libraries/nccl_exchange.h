// SPDX-License-Identifier: Apache-2.0
// Sends small integers between running ranks: sizes, shapes, token counts, flags and pickles. nccl_data.h
// fills all other buffers.
//
// The host waits for other ranks inside the call. So a rank sends everything in a group before it waits.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// ncclDataType_t begins with int8, uint8, int32, uint32, int64, uint64.
inline constexpr int kIntegerTypes = 6;
inline constexpr size_t kMostExchangedBytes = 64 << 10;

// Only for the types above. False otherwise: proceed as without other ranks. `to` and `from`: device memory;
// `from` has been read on return. Data arrives now or, in a group, in FinishExchanges.
bool ExchangeReduced(const void* from, void* to, size_t count, int type, int operation, bool wanted,
                     Communicator& communicator, void* stream);
bool ExchangeFromRoot(const void* from, void* to, size_t bytes, int type, int root,
                      Communicator& communicator, void* stream);
bool ExchangeGathered(const void* from, void* to, size_t bytes, int type, Communicator& communicator,
                      void* stream);
bool ExchangeSent(const void* from, size_t bytes, int type, int peer, Communicator& communicator);
bool ExchangeReceived(void* to, size_t bytes, int type, int peer, Communicator& communicator, void* stream);

// Call before the outermost group ends.
void FinishExchanges();

}  // namespace vramscope::simulated
