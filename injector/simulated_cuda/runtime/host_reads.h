// SPDX-License-Identifier: Apache-2.0
// What the host reads of values that a kernel would have computed: counted, with the line of Python that did
// it.
//
// Why: those values are zeros here. Where a program takes a size or a decision from one, the memory of a real
// run depends on its data, and the answer of a dry run is one of several. By rule "are all true?" is answered
// with yes: checks such as torch.equal hold, and loops that wait for every element to be done end. "Is it 0?"
// is answered from the value, which is 0 unless it was uploaded.
//
//   VRAMSCOPE_SIMULATED_READS=FILE     written when the process ends, "%p" = its number; one line each, tabs
//                                      between: sizes|value  count  file  line; and "vector 1 - 0" where
//                                      several values were read at once
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// The thread launches this kernel with pointers to its arguments.
void NoteLaunch(const void* kernel, void* const* arguments);
// `bytes` have just been copied from the device to the host at `to`. May change them.
void NoteHostRead(void* to, size_t bytes);

}  // namespace vramscope::simulated
