// SPDX-License-Identifier: Apache-2.0
// The dlsym, dlvsym and dlopen that would be called without this library.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlopen = void* (*)(const char* path, int flags);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// The next definition after this library in load order, as RTLD_NEXT. Without one (late loading): the first
// definition before it. nullptr if there is none, such as dlsym without libdl in a glibc older than 2.34.
//
// Callable before constructors: no dlsym, no loader's lock, no allocation.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();
Dlopen RealDlopen();

}  // namespace vramscope::injector
