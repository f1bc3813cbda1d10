// SPDX-License-Identifier: Apache-2.0
// Finds the dlsym, dlvsym and dlopen that the program would call if this library were not loaded.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlopen = void* (*)(const char* path, int flags);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// Returns the first definition of `symbol` in the objects loaded after this library, like RTLD_NEXT. If there
// is none, because this library was loaded last, the first definition in all earlier objects is returned.
// Returns nullptr if no object defines the symbol. For example, glibc before 2.34 defines dlsym only in
// libdl.
//
// May be called before constructors have run. Does not call dlsym, take the loader's lock or allocate.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();
Dlopen RealDlopen();

}  // namespace vramscope::injector
