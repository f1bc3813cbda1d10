// SPDX-License-Identifier: Apache-2.0
// Facts from /proc about a process and this machine. If a process is gone, the text is empty.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace_format/process_identity.h"

namespace vramscope::collector {

std::string ExecutableOf(uint32_t pid);
// Arguments joined by spaces; arguments with blanks or quotes are in single quotes. At most 4 KiB.
std::string CommandLineOf(uint32_t pid);
std::string ThreadName(uint32_t pid, uint32_t thread);

// The pid of the process in our pid namespace. 0 = the process is not visible from here. A running process of
// this user is always visible.
uint32_t PidHere(const trace::ProcessIdentity& process);
// True only if the process has certainly ended.
bool HasEnded(const trace::ProcessIdentity& process);

uint32_t ParentOf(uint32_t pid);

// Formats `arguments` like CommandLineOf.
std::string JoinCommandLine(const std::vector<std::string>& arguments);

// "host.kernel", "host.cpu", "host.cpus", "host.memory_bytes", and "env.NAME" for a fixed list of variables
// that change what PyTorch allocates. Reads no other variables, because environments hold secrets.
std::map<std::string, std::string> MachineFacts();

}  // namespace vramscope::collector
