// SPDX-License-Identifier: Apache-2.0
// <unistd.h> for the viewer in a web page: adds geteuid(), which the C library does not have. A page has only
// one user.
#pragma once

#include_next <unistd.h>

inline uid_t geteuid() { return 0; }
