// SPDX-License-Identifier: Apache-2.0
// Converts any model::Source, such as a PyTorch memory snapshot, to a trace file.
#pragma once

#include <memory>

#include "profiler/model/source.h"
#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status WriteTrace(const model::Source& source, std::unique_ptr<trace::ByteSink> sink);

}  // namespace vramscope::snapshot
