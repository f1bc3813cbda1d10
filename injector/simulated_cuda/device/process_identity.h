// SPDX-License-Identifier: Apache-2.0
// Which process is which, and whether it still lives: a process that was killed cannot give its memory back
// itself.
#pragma once

#include "trace_format/device_use.h"

namespace vramscope::simulated {

// Of the calling process; asked for anew after a fork. One system call.
trace::SharingProcess ThisProcess();

// Whether that very process runs: not another one with its number, and not one that has died and is only
// waited for by its parent. True when /proc cannot say. About 10 us.
bool IsAlive(const trace::SharingProcess& process);

}  // namespace vramscope::simulated
