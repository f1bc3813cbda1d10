// SPDX-License-Identifier: Apache-2.0
// Reads a snapshot in JSON. It has the same dicts and lists as a pickle; PyTorch's viewer accepts both.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status ReadJson(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
