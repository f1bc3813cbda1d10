// SPDX-License-Identifier: Apache-2.0
// Reads pickles of plain data: dicts, lists, tuples, strings, numbers, True, False and None, protocols 0
// to 5.
//
// Why our own: Python's unpickler runs what a file names, and spends 0.7 s on a million events with its
// garbage collector off. This one knows no opcode that could name or build anything else, refuses all others
// by name, and never recurses. Opcodes: Lib/pickletools.py of CPython 3.14; what PyTorch's C++ writer
// (torch/csrc/jit/serialization/pickler.cpp) adds is none.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// Reads one pickle into `objects`; what follows its end is left. The sentence of an error has no file name in
// front.
[[nodiscard]] Status Unpickle(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
