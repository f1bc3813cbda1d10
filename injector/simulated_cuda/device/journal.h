// SPDX-License-Identifier: Apache-2.0
// Writes every change of the ledger as a line of text, for tests. VRAMSCOPE_SIMULATED_JOURNAL names the file.
//
//   18437226731411 0 4194304 cudaMalloc libc10_cuda.so
//
// The fields: CLOCK_MONOTONIC in ns, the machine's device number, live bytes of the ledger row after the
// change, the CUDA call of the row, the library of the row. The call may contain spaces; the library is the
// text after the last space.
#pragma once

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

// Call while the device's lock is held, so that the lines are in order.
void NoteInJournal(int device, const LedgerRow& row);

}  // namespace vramscope::simulated
