// SPDX-License-Identifier: Apache-2.0
// The run of training_loop.h as a temporary file, for benchmarks.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::model::testing {

// Exits with a message if `status` is an error.
void MustSucceed(const Status& status);
// Returns the path. The first call writes the file. The file is deleted at process exit. Not thread-safe.
[[nodiscard]] const std::string& TraceOnDisk();
// Peak resident set size so far, with file-backed pages.
[[nodiscard]] double HighestResidentMib();

}  // namespace vramscope::model::testing
