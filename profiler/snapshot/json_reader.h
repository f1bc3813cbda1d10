// SPDX-License-Identifier: Apache-2.0
// Reads a snapshot that is stored as JSON instead of a pickle. Both have the same dicts and lists.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status ReadJson(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
