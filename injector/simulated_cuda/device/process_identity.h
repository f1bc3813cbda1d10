// SPDX-License-Identifier: Apache-2.0
// Identifies processes, and checks whether a process still runs. A killed process cannot free its device
// memory itself, so other processes must detect its end.
#pragma once

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// Returns the identity of the calling process: pid and start time. Reads the identity again after a fork.
// Takes one system call.
trace::SharingProcess ThisProcess();

// True if the process still runs. False for zombies, and if another process now has the same pid. True if
// /proc cannot be read. Takes about 10 us.
bool IsAlive(const trace::SharingProcess& process);

}  // namespace vramscope::simulated
