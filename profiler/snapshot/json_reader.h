// SPDX-License-Identifier: Apache-2.0
// Reads a snapshot in JSON. Its dicts and lists are those of a pickle.
#pragma once

#include "profiler/snapshot/byte_stream.h"
#include "profiler/snapshot/objects.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status ReadJson(ByteStream* in, Objects* objects);

}  // namespace vramscope::snapshot
