// SPDX-License-Identifier: Apache-2.0
// The generated training run of training_loop.h as a temporary file, for benchmarks that start from a file.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::model::testing {

// Exits with a message if `status` is an error: a benchmark without its trace measures nothing.
void MustSucceed(const Status& status);
// Returns the path. The first call writes the file; it is deleted when the process exits. Not thread-safe.
[[nodiscard]] const std::string& TraceOnDisk();
// Peak resident set size of the process so far, including file-backed pages.
[[nodiscard]] double HighestResidentMib();

}  // namespace vramscope::model::testing
