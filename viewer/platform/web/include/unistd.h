// SPDX-License-Identifier: Apache-2.0
// <unistd.h> with the functions that this C library lacks. A page has one user.
#pragma once

#include_next <unistd.h>

inline uid_t geteuid() { return 0; }
