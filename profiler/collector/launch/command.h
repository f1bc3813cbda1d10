// SPDX-License-Identifier: Apache-2.0
// Starts the recorded command in the collector's process group, with its stdio and working directory. Only
// the environment variables that load the recorder differ.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "profiler/collector/launch/signal_relay.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// This process's environment with `changes`, as "NAME=value".
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes);

// Returns "value:previous", or "value" if the variable is empty or already begins with `value` (a recording
// inside a recording).
std::string PrependToPathVariable(const char* variable, const std::string& value);

// Returns the pid, or an error if the command could not be started.
Result<pid_t> StartCommand(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, const SignalRelay& relay);

}  // namespace vramscope::collector
