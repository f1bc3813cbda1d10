// SPDX-License-Identifier: Apache-2.0
// Starts the command that is recorded. The command gets the collector's process group, stdio and working
// directory. Its environment has additional variables, which load the recorder.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

#include "profiler/collector/launch/signal_relay.h"
#include "trace_format/result.h"

namespace vramscope::collector {

// Returns this process's environment with `changes` applied. Each entry is "NAME=value".
std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& changes);

// Returns "VALUE:OLD", where OLD is the variable's current value. If the variable is empty, returns `value`.
// If the variable already begins with `value` (a recording inside a recording), returns the current value.
std::string PrependToPathVariable(const char* variable, const std::string& value);

// Starts the command and returns its pid; returns an error if the command could not be started.
Result<pid_t> StartCommand(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, const SignalRelay& relay);

}  // namespace vramscope::collector
