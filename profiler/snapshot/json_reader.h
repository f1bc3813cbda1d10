// SPDX-License-Identifier: Apache-2.0
// Reads a snapshot in JSON: the same dicts and lists, which PyTorch's viewer accepts like pickles.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status ReadJson(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
