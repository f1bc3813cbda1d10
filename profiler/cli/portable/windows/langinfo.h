// SPDX-License-Identifier: Apache-2.0
// The console is set to UTF-8 (main.cc).
#pragma once

#define CODESET 0
inline const char* nl_langinfo(int) { return "UTF-8"; }
