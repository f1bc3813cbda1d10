// SPDX-License-Identifier: Apache-2.0
// The one line at the end of a recording: what there is, and how to look at it.
#pragma once

#include <string>

#include "profiler/collector/launch/record.h"

namespace vramscope::cli {

std::string RecordingLine(const collector::RecordOutcome& outcome);

}  // namespace vramscope::cli
