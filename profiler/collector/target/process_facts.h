// SPDX-License-Identifier: Apache-2.0
// Reads facts about a process and this machine from /proc. For a process that has ended, texts are empty.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace_format/process_identity.h"

namespace vramscope::collector {

// Returns the path of the process's executable.
std::string ExecutableOf(uint32_t pid);
// Returns the process's arguments, joined by spaces. Arguments with blanks or quotes are in single quotes. A
// text of more than 4 KiB is cut and ends with "...".
std::string CommandLineOf(uint32_t pid);
std::string ThreadName(uint32_t pid, uint32_t thread);

// Returns the process's pid in the pid namespace of this program; 0 if /proc does not show the process. /proc
// shows every running process of this user.
uint32_t PidHere(const trace::ProcessIdentity& process);
// True only if the process has certainly ended.
bool HasEnded(const trace::ProcessIdentity& process);

uint32_t ParentOf(uint32_t pid);

// Formats `arguments` like CommandLineOf.
std::string JoinCommandLine(const std::vector<std::string>& arguments);

// Returns "host.kernel", "host.cpu", "host.cpus", "host.memory_bytes", and "env.NAME" for each variable of a
// fixed list. The list contains variables that change what PyTorch allocates. No other variables are read,
// because they may contain secrets.
std::map<std::string, std::string> MachineFacts();

}  // namespace vramscope::collector
