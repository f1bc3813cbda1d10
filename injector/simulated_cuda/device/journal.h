// SPDX-License-Identifier: Apache-2.0
// Writes every change of the ledger as a line of text, for tests that compare it with another count of the
// device's memory at each change. VRAMSCOPE_SIMULATED_JOURNAL names the file; without it nothing is written.
//
//   18437226731411 0 4194304 cudaMalloc libc10_cuda.so
//
//   CLOCK_MONOTONIC in ns, the machine's device, the row's bytes after the change, its call (up to the last
//   space), its library
#pragma once

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

// Called under the lock of the device, so that lines are in the order of the changes.
void NoteInJournal(int device, const LedgerRow& row);

}  // namespace vramscope::simulated
