// SPDX-License-Identifier: Apache-2.0
// Checks whether a process can be attached to, from /proc alone. If it cannot, nothing was touched, and the
// error says why and what to do.
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::attach {

// Returns an error for: no such process, a thread, ourselves, process 1, kernel threads, zombies, stopped and
// traced processes, other users' processes, Yama's ptrace_scope, our own or the target's seccomp filter,
// raised privileges, 32-bit, static and musl programs, shadow stacks, processes that ignore signals we need,
// and processes that are already recorded.
Status CheckTarget(pid_t pid);

// Returns why Yama forbids the attach and what to do about it, or "" if Yama allows it. `scope` is the
// content of /proc/sys/kernel/yama/ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), or "" on a kernel
// without it.
std::string ForbiddenByPtraceScope(const std::string& scope, bool may_trace_anything);

// True if the process has loaded a library of PyTorch.
bool HasPyTorch(pid_t pid);

}  // namespace vramscope::attach
