// SPDX-License-Identifier: Apache-2.0
// Macros that decode the exit statuses of a trace. This C library has none: it has no processes.
#pragma once

#define WTERMSIG(status) ((status)&0x7f)
#define WIFEXITED(status) (WTERMSIG(status) == 0)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)
