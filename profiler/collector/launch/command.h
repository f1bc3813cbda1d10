// SPDX-License-Identifier: Apache-2.0
// Starts the command that is recorded: in the collector's process group, with its stdio, working directory
// and signals, and an environment that differs only by what makes the recorder load.
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

// "value:previous", or "value" when the variable is empty, not set, or already begins with it (a recording
// inside a recording).
std::string PrependToPathVariable(const char* variable, const std::string& value);

// The pid of the started command. An error when it could not be started after all (the program went away, no
// memory).
Result<pid_t> StartCommand(const std::vector<std::string>& arguments,
                           const std::vector<std::string>& environment, const SignalRelay& relay);

}  // namespace vramscope::collector
