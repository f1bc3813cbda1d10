// SPDX-License-Identifier: Apache-2.0
// Reads pickles of plain data, protocols 1 to 5: dicts, lists, tuples, strings, numbers, booleans and None.
//
// Why our own: Python's unpickler executes what a file names, and takes 0.7 s for a million events with its
// garbage collector off. This one has no opcode that could name or build anything else, refuses all others by
// name, and never recurses. Opcodes: Lib/pickletools.py of CPython 3.14. PyTorch's C++ writer
// (torch/csrc/jit/serialization/pickler.cpp) adds none.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// Reads one pickle into `objects` and ignores what follows it. An error sentence does not begin with a file
// name.
[[nodiscard]] Status Unpickle(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
