// SPDX-License-Identifier: Apache-2.0
// Who called, when the recorder stands between the program and the driver.
//
// The ledger is what the recorder's attribution is tested against, so it does not ask the recorder: it looks
// at the frames of the stack itself.
#pragma once

namespace vramscope::simulated {

// Whether the address is code of the recorder's preload library.
bool IsOfRecorder(const void* address);
// An address in the innermost frame that is neither the recorder's nor CUDA's; nullptr when there is none.
const void* CallerBeyondRecorder();

}  // namespace vramscope::simulated
