// SPDX-License-Identifier: Apache-2.0
// The line that is printed at the end of a recording. It tells what was recorded and how to view the
// recording.
#pragma once

#include <string>

#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

std::string RecordingLine(const collector::RecordOutcome& outcome);

}  // namespace vramscope::cli
