// SPDX-License-Identifier: Apache-2.0
// Writes a snapshot as the pickle that torch.cuda.memory._dump_snapshot writes. PyTorch's own viewer and
// scripts accept it.
#pragma once

#include "profiler/snapshot/snapshot.h"
#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

// Values that are not known are left out. Frames are always written, because PyTorch's scripts fail without
// them.
[[nodiscard]] Status WritePickle(const Snapshot& snapshot, trace::ByteSink* sink);

}  // namespace vramscope::snapshot
