// SPDX-License-Identifier: Apache-2.0
// Counts values that the host reads and a kernel would have computed, with the Python line of each read.
//
// Those values are zeros here. If a size or decision depends on one, so does the memory of a real run. "Are
// all true?" is answered with yes: checks such as torch.equal hold, and waiting loops end. "Is it 0?" is
// answered from the value, 0 unless uploaded.
//
//   VRAMSCOPE_SIMULATED_READS=FILE     written when the process ends, "%p" = its process id; one line each:
//                                      sizes|value  count  file  line      tabs between
//                                      vector       1      -     0         several values were read at once
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// Call when the thread launches this kernel with these pointers.
void NoteLaunch(const void* kernel, void* const* arguments);
// Call when `bytes` were copied from device to host. May change them.
void NoteHostRead(void* to, size_t bytes);

}  // namespace vramscope::simulated
