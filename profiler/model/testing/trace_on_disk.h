// SPDX-License-Identifier: Apache-2.0
// Writes the generated run of training_loop.h to a temporary file, for benchmarks.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::model::testing {

// Exits with a message if `status` is an error.
void MustSucceed(const Status& status);
// Returns the path of the file. The first call writes the file, which is deleted when the process exits. Not
// thread-safe.
[[nodiscard]] const std::string& TraceOnDisk();
// Returns the peak resident set size of this process in MiB, including file-backed pages.
[[nodiscard]] double HighestResidentMib();

}  // namespace vramscope::model::testing
