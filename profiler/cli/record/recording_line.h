// SPDX-License-Identifier: Apache-2.0
// The one line at the end of a recording: what was recorded, and how to view it.
#pragma once

#include <string>

#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

std::string RecordingLine(const collector::RecordOutcome& outcome);

}  // namespace vramscope::cli
