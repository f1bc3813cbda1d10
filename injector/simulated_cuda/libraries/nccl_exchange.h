// SPDX-License-Identifier: Apache-2.0
// Small integers really go from rank to rank, where the other ranks run: sizes, shapes, counts of tokens,
// flags and pickles, by which ranks decide what they do next. All else is what nccl_data.h leaves in the
// buffers.
//
// The host waits in the call for what others tell, which NCCL leaves to the stream. So all that a rank has to
// tell in a group of calls is told before it waits for anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "injector/simulated_cuda/libraries/nccl_communicator.h"

namespace vramscope::simulated {

// ncclDataType_t begins with int8, uint8, int32, uint32, int64, uint64.
inline constexpr int kIntegerTypes = 6;
inline constexpr size_t kMostExchangedBytes = 64 << 10;

// Where it is one of those. All false: the caller does what it does without others. `to`, and `from`, which
// has been read when these return, are device memory; what arrives is written now or, in a group, by
// FinishExchanges.
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
