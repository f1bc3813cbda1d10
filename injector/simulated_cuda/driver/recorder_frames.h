// SPDX-License-Identifier: Apache-2.0
// Finds the caller when the recorder stands between program and driver.
//
// The ledger reads stack frames itself, because it tests the recorder.
#pragma once

namespace vramscope::simulated {

// True if the address is in the code of the recorder's preload library.
bool IsOfRecorder(const void* address);
// An address in the innermost frame outside recorder and CUDA; nullptr if none.
const void* CallerBeyondRecorder();

}  // namespace vramscope::simulated
