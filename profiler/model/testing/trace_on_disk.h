// SPDX-License-Identifier: Apache-2.0
// For benchmarks that start from a file: the generated training run of training_loop.h, written once to a
// temporary file.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::model::testing {

// Exits with a message: a benchmark without its trace measures nothing.
void MustSucceed(const Status& status);
// Returns the path. The first call writes the file; it is deleted when the process exits. Not thread-safe.
[[nodiscard]] const std::string& TraceOnDisk();
// Peak resident set size of the process so far, including file-backed pages.
[[nodiscard]] double HighestResidentMib();

}  // namespace vramscope::model::testing
