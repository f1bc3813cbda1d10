// SPDX-License-Identifier: Apache-2.0
// Checks whether vramscope can attach to a process. The checks read /proc and do not touch the process. An
// error explains the reason and what to do.
#pragma once

#include <sys/types.h>

#include <string>

#include "trace_format/result.h"

namespace vramscope::attach {

// Returns an error for:
// - thread ids, kernel threads, process 1, and vramscope itself
// - zombies, and processes that are stopped, traced or already recorded
// - processes of other users, unless vramscope has CAP_SYS_PTRACE
// - processes with their own seccomp filters, raised privileges (setuid), or a shadow stack
// - processes that ptrace_scope protects, and processes that ignore SIGTRAP or SIGSEGV
// - 32-bit programs, static programs, and programs that use musl
Status CheckTarget(pid_t pid);

// Returns why Yama forbids the attach and what to do, or "" if Yama allows it. `scope` is the content of
// /proc/sys/kernel/yama/ptrace_scope (Documentation/admin-guide/LSM/Yama.rst), or "" if that file does not
// exist. `may_trace_anything`: the caller has CAP_SYS_PTRACE.
std::string ForbiddenByPtraceScope(const std::string& scope, bool may_trace_anything);

// True if the process has loaded libc10 or libtorch.
bool HasPyTorch(pid_t pid);

}  // namespace vramscope::attach
