// SPDX-License-Identifier: Apache-2.0
// How a trace's exit statuses are read: Linux wrote them, and this C library has no processes.
#pragma once

#define WTERMSIG(status) ((status)&0x7f)
#define WIFEXITED(status) (WTERMSIG(status) == 0)
#define WEXITSTATUS(status) ((status) >> 8 & 0xff)
#define WIFSIGNALED(status) (WTERMSIG(status) != 0 && WTERMSIG(status) != 0x7f)
