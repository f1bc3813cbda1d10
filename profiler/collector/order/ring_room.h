// SPDX-License-Identifier: Apache-2.0
// A counter of the space that rings may still take in the session folder (trace_format/ring.h). Targets
// subtract from it without asking the collector.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

Status MakeRingRoom(const std::string& folder, uint64_t bytes);
// Returns the space that a process took.
void GiveBackRingRoom(const std::string& folder, uint64_t bytes);
// Processes that were not recorded because there was no space or no ring file could be created.
uint64_t UnrecordedProcesses(const std::string& folder);

}  // namespace vramscope::collector
