// SPDX-License-Identifier: Apache-2.0
// For benchmarks that begin at a file: the generated training run of training_loop.h, written once to a
// temporary file.
#pragma once

#include <string>

#include "trace_format/result.h"

namespace vramscope::model::testing {

// Exits with a message: a benchmark without its trace measures nothing.
void MustSucceed(const Status& status);
// Its path; the file is written at the first call and goes away with the process. One thread.
[[nodiscard]] const std::string& TraceOnDisk();
// The highest resident set of the process so far, pages of files included.
[[nodiscard]] double HighestResidentMib();

}  // namespace vramscope::model::testing
