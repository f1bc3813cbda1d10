// SPDX-License-Identifier: Apache-2.0
// The dlsym and dlvsym that would be called if this library were not there.
#pragma once

namespace vramscope::injector {

using Dlsym = void* (*)(void* handle, const char* name);
using Dlvsym = void* (*)(void* handle, const char* name, const char* version);

// The next definition behind this library in the order of loading, as RTLD_NEXT would find it; nullptr when
// there is none (dlsym before glibc 2.34 without libdl). Found without dlsym, the loader's lock or
// allocation: both may be called before any constructor has run.
void* FindBehind(const char* symbol);
Dlsym RealDlsym();
Dlvsym RealDlvsym();

}  // namespace vramscope::injector
