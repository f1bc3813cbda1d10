// SPDX-License-Identifier: Apache-2.0
// Finds the caller when the recorder stands between the program and the driver.
//
// The recorder's attribution is tested against the ledger. So the ledger does not ask the recorder, but reads
// the stack frames itself.
#pragma once

namespace vramscope::simulated {

// True if the address is in the code of the recorder's preload library.
bool IsOfRecorder(const void* address);
// An address in the innermost frame outside the recorder and CUDA; nullptr if there is none.
const void* CallerBeyondRecorder();

}  // namespace vramscope::simulated
