// SPDX-License-Identifier: Apache-2.0
// The dlsym, dlvsym and dlopen that the program would call without this library.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlopen = void* (*)(const char* path, int flags);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// The next definition after this library in load order, as RTLD_NEXT would find it. If there is none, the
// first one before it (a library that came late). nullptr if there is none at all (dlsym before glibc 2.34
// without libdl). Found without dlsym, the loader's lock or allocation: both may be called before any
// constructor has run.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();
Dlopen RealDlopen();

}  // namespace vramscope::injector
