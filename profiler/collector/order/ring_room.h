// SPDX-License-Identifier: Apache-2.0
// How much of the session folder's file system rings may take: the counter of trace_format/ring.h, which
// targets take from by themselves.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Makes the counter of a session folder.
Status MakeRingRoom(const std::string& folder, uint64_t bytes);
// What a process took is free again.
void GiveBackRingRoom(const std::string& folder, uint64_t bytes);
// Processes that could not be recorded for want of room, or because no ring file could be made.
uint64_t UnrecordedProcesses(const std::string& folder);

}  // namespace vramscope::collector
