// SPDX-License-Identifier: Apache-2.0
// Sends one command to all ranks of a job: `vramscope fleet start|stop|dump FOLDER`. Keys of `vramscope top`
// send the same commands.
//
//   dump   Recorders with --black-box that write into FOLDER dump their last steps, on every machine that
//          shares the folder.
//   start  Starts a recording of each process of this machine that waits for it (record --dormant). The
//          traces are written into FOLDER.
//   stop   Stops the recordings on this machine that `start` began.
#pragma once

#include <string>
#include <vector>

#include "profiler/cli/frame/arguments.h"
#include "trace_format/result.h"

namespace vramscope::cli {

// True if the arguments of `fleet` are one of these commands: "dump job". False if a file with the command's
// name exists; the argument then names this file.
[[nodiscard]] bool IsOrder(const std::vector<std::string>& words);

// DumpAll, StartAll and StopAll return one sentence for the user that tells what was done. `step`: the
// recorders dump when this optimizer step has finished; 0 = now.
Result<std::string> DumpAll(const std::string& folder, uint64_t step);
// `more`: additional options for `vramscope start`.
Result<std::string> StartAll(const std::string& folder, const std::vector<std::string>& more);
Result<std::string> StopAll();

// Runs the command in `arguments`, prints the sentence and returns the exit code.
Result<int> RunOrder(const Arguments& arguments);

}  // namespace vramscope::cli
