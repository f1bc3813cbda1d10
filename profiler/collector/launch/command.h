// SPDX-License-Identifier: Apache-2.0
// Starts the recorded command in the collector's process group, with its stdio, working directory and
// signals. Its environment differs only by the variables that load the recorder.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "profiler/collector/launch/signal_relay.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// The environment of this process with `changes` on top, as "NAME=value".
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes);

// Returns "value:previous", or "value" if the variable is empty or unset or already begins with it (a
// recording inside a recording).
std::string PrependToPathVariable(const char* variable, const std::string& value);

// Returns the pid of the started command, or an error if it could not be started (the program has
// disappeared, no memory).
Result<pid_t> StartCommand(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, const SignalRelay& relay);

}  // namespace vramscope::collector
