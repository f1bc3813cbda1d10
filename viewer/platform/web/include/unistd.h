// SPDX-License-Identifier: Apache-2.0
// <unistd.h> with what this C library leaves out: a page has one user.
#pragma once

#include_next <unistd.h>

inline uid_t geteuid() { return 0; }
