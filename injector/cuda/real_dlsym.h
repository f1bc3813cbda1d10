// SPDX-License-Identifier: Apache-2.0
// The dlsym, dlvsym and dlopen that would be called if this library were not there.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlopen = void* (*)(const char* path, int flags);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// The next definition behind this library in the order of loading, as RTLD_NEXT would find it; when there is
// none, the first before it (a library that came late); nullptr when there is none at all (dlsym before glibc
// 2.34 without libdl). Found without dlsym, the loader's lock or
// allocation: both may be called before any constructor has run.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();
Dlopen RealDlopen();

}  // namespace vramscope::injector
