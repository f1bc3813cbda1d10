// SPDX-License-Identifier: Apache-2.0
// Whether a process can be attached to, decided from /proc alone: when it cannot, nothing was touched, and
// the sentence says why and what to do.
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::attach {

// An error for: no such process, a thread, ourselves, process 1, the kernel's, zombies, stopped and traced
// ones, other users', Yama's ptrace_scope, our own or the target's seccomp filter, raised privileges, 32-bit,
// static and musl programs, shadow stacks, signals that we need and it ignores, and one that is recorded
// already.
Status CheckTarget(pid_t pid);

// Why Yama forbids the attach, and what to do; empty when it does not. `scope`: the text of
// /proc/sys/kernel/yama/ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), empty on kernels without it.
std::string ForbiddenByPtraceScope(const std::string& scope, bool may_trace_anything);

// True when a library of PyTorch is loaded in it.
bool HasPyTorch(pid_t pid);

}  // namespace vramscope::attach
