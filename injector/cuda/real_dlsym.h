// SPDX-License-Identifier: Apache-2.0
// The dlsym, dlvsym and dlopen that the program would call without this library.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlopen = void* (*)(const char* path, int flags);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// Returns the next definition after this library in load order, as RTLD_NEXT would. If there is none (this
// library was loaded late), returns the first definition before it. Returns nullptr if there is no definition
// at all, for example of dlsym before glibc 2.34 without libdl.
//
// None of these functions calls dlsym, takes the loader's lock or allocates, so they may be called before any
// constructor has run.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();
Dlopen RealDlopen();

}  // namespace vramscope::injector
