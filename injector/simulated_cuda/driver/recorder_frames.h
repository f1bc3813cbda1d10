// SPDX-License-Identifier: Apache-2.0
// Finds the program's call site in the stack when the recorder's frames lie between the program and the
// simulated driver.
//
// The simulated driver's ledger uses this code, and not the recorder's own stack code, because the ledger is
// used to test the recorder.
#pragma once

namespace vramscope::simulated {

// True if the address is in the code of the recorder's preload library.
bool IsOfRecorder(const void* address);
// Returns an address in the innermost stack frame that belongs neither to the recorder nor to CUDA. Returns
// nullptr if there is none.
const void* CallerBeyondRecorder();

}  // namespace vramscope::simulated
