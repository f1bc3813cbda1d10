// SPDX-License-Identifier: Apache-2.0
// Reads pickles of plain data, protocols 1 to 5: dicts, lists, tuples, strings, numbers, booleans and None.
//
// Unlike Python's unpickler, this one executes nothing that a file names. An opcode for anything but plain
// data is an error that names the opcode. The code never recurses.
//
// The opcodes are those of Lib/pickletools.py in CPython 3.14. PyTorch's C++ writer
// (torch/csrc/jit/serialization/pickler.cpp) uses no others.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// Reads one pickle into `objects`, and ignores the rest of the file. Error sentences do not begin with a file
// name.
[[nodiscard]] Status Unpickle(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
