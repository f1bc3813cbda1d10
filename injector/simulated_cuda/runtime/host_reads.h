// SPDX-License-Identifier: Apache-2.0
// Counts the values that the host reads and that a kernel would have computed, with the line of Python that
// read each.
//
// Why: those values are zeros here. If a program takes a size or a decision from one, the memory of a real
// run depends on its data. The result of the dry run is then one of several possible ones. By rule, "are all
// true?" is answered with yes: checks such as torch.equal hold, and loops that wait until every element is
// done end. "Is it 0?" is answered from the value, which is 0 unless it was uploaded.
//
//   VRAMSCOPE_SIMULATED_READS=FILE     written when the process ends, "%p" = its process id; one line each:
//                                      sizes|value  count  file  line      tabs between
//                                      vector       1      -     0         several values were read at once
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// The thread launches this kernel with pointers to its arguments.
void NoteLaunch(const void* kernel, void* const* arguments);
// `bytes` have just been copied from the device to the host at `to`. May change them.
void NoteHostRead(void* to, size_t bytes);

}  // namespace vramscope::simulated
