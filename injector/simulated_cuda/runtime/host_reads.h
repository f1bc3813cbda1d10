// SPDX-License-Identifier: Apache-2.0
// Counts how often the host reads a value that a kernel would have computed on a GPU. Each read is counted
// under its line of Python code.
//
// The simulated GPU runs no kernels, so such a value is normally zero. If the program derives a size or a
// decision from the value, the memory of a real run may differ. Two kinds of checks are answered differently.
// A kernel that tests whether all elements are true returns true, so torch.equal holds and waiting loops end.
// A comparison with 0 is computed from the actual value, which is 0 unless the program uploaded it.
//
//   VRAMSCOPE_SIMULATED_READS=FILE     written when the process ends; "%p" becomes the process id. Each line
//                                      has four columns, separated by tabs:
//
//   what       count   file       line
//   sizes      12      train.py   40      this line read the size of a result (nonzero, ...) 12 times
//   value      3       train.py   52      this line read another value 3 times
//   vector     1       -          0       fixed text: several values were read at once, at least one time
#pragma once

#include <cstddef>

namespace vramscope::simulated {

// Call this when the thread launches `kernel` with these pointers to its arguments.
void NoteLaunch(const void* kernel, void* const* arguments);
// Call this when `bytes` were copied from the device to the host. May change the copied bytes at `to`.
void NoteHostRead(void* to, size_t bytes);

}  // namespace vramscope::simulated
