// SPDX-License-Identifier: Apache-2.0
// Identifies processes, and checks whether they still run: a killed process cannot give its memory back
// itself.
#pragma once

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// The identity of the calling process; read again after a fork. One system call.
trace::SharingProcess ThisProcess();

// True if that very process runs: not another one with the same pid, and not a zombie. True if /proc cannot
// be read. About 10 us.
bool IsAlive(const trace::SharingProcess& process);

}  // namespace vramscope::simulated
