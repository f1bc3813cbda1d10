// SPDX-License-Identifier: Apache-2.0
// Macros that decode the exit statuses in a trace, for the viewer in the browser. The C library for
// WebAssembly does not have these macros, because it has no processes.
#pragma once

#define WTERMSIG(status) ((status)&0x7f)
#define WIFEXITED(status) (WTERMSIG(status) == 0)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)
