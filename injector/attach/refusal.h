// SPDX-License-Identifier: Apache-2.0
// Checks from /proc alone whether a process can be attached to. An error says why, and what to do. The
// process is not touched.
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::attach {

// Refused: ids of threads, kernel threads, ourselves, process 1, zombies, stopped, traced or recorded
// processes. Also processes of other users, with seccomp filters, raised privileges or shadow stacks,
// protected by ptrace_scope, or ignoring signals we need. Also 32-bit, static and musl programs.
Status CheckTarget(pid_t pid);

// Why Yama forbids the attach and what to do, or "". `scope`: content of /proc/sys/kernel/yama/ptrace_scope
// (Documentation/admin-guide/LSM/Yama.rst), or "".
std::string ForbiddenByPtraceScope(const std::string& scope, bool may_trace_anything);

// True if the process has loaded a library of PyTorch.
bool HasPyTorch(pid_t pid);

}  // namespace vramscope::attach
