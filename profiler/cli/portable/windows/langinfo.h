// SPDX-License-Identifier: Apache-2.0
// Replaces nl_langinfo() on Windows. The character set is always UTF-8, because main.cc sets the console to
// UTF-8.
#pragma once

#define CODESET 0
inline const char* nl_langinfo(int) { return "UTF-8"; }
