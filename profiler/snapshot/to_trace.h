// SPDX-License-Identifier: Apache-2.0
// Writes the contents of a source as a trace.
#pragma once

#include <memory>

#include "profiler/model/source.h"
#include "trace_format/file_sink.h"
#include "trace_format/result.h"

namespace vramscope::snapshot {

[[nodiscard]] Status WriteTrace(const model::Source& source, std::unique_ptr<trace::ByteSink> sink);

}  // namespace vramscope::snapshot
