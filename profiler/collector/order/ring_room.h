// SPDX-License-Identifier: Apache-2.0
// The room of a session: a counter, in a file of the session folder, of the bytes that rings may still take
// (trace_format/ring.h). Recorded processes subtract from it without asking the collector.
#pragma once

#include <cstdint>
#include <string>

#include "trace_format/result.h"

namespace vramscope::collector {

// Creates the counter with `bytes`.
Status MakeRingRoom(const std::string& folder, uint64_t bytes);
// Adds the bytes that an ended process had taken to the counter.
void GiveBackRingRoom(const std::string& folder, uint64_t bytes);
// Number of processes that were not recorded because there was no room, or because no ring file could be
// created.
uint64_t UnrecordedProcesses(const std::string& folder);

}  // namespace vramscope::collector
