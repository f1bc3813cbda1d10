// SPDX-License-Identifier: Apache-2.0
// `vramscope fleet start|stop|dump FOLDER`, and the keys of `vramscope top`: one command to all ranks of a
// job.
//
//   dump   all black boxes whose recorders write into the folder, on every machine that sees it
//   start  all processes of this machine that wait to be recorded (record --dormant), into the folder
//   stop   all processes of this machine that `start` records
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// True if the words of `fleet` are such a command: "dump job". False if a file has the command's name.
[[nodiscard]] bool IsOrder(const std::vector<std::string>& words);

// Each returns one sentence about what was done.
Result<std::string> DumpAll(const std::string& folder, uint64_t step);
// `more`: options of `vramscope start`.
Result<std::string> StartAll(const std::string& folder, const std::vector<std::string>& more);
Result<std::string> StopAll();

Result<int> RunOrder(const Arguments& arguments);

}  // namespace vramscope::cli
