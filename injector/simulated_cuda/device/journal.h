// SPDX-License-Identifier: Apache-2.0
// Writes every change of the ledger as a line of text, for tests. VRAMSCOPE_SIMULATED_JOURNAL names the file.
//
//   18437226731411 0 4194304 cudaMalloc libc10_cuda.so
//
//   CLOCK_MONOTONIC in ns, the machine's device, the row's bytes after the change, its call (up to the last
//   space), its library
#pragma once

#include "injector/simulated_cuda/device/ledger.h"

namespace vramscope::simulated {

// Call under the device's lock: lines are in order.
void NoteInJournal(int device, const LedgerRow& row);

}  // namespace vramscope::simulated
