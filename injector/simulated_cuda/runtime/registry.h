// SPDX-License-Identifier: Apache-2.0
// The kernels and variables that libraries register at load time, by their host addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::simulated {

// A wheel registers about 100,000 kernels, and few are queried.
void NoteKernel(const void* host, const void* module, const char* name);
// The fat binary's wrapper; nullptr if not registered.
const void* ModuleOf(const void* host);
// Number of the module's kernels; at least 1.
size_t KernelsOf(const void* module);
// The modules with kernels, each once.
std::vector<const void*> Modules();
// The registered mangled name; "" = none.
const char* KernelName(const void* host);

void NoteVariable(const void* host, size_t bytes);
// The variable's device memory, taken at the first query. kNotFound if not registered.
int FindVariable(const void* host, uint64_t* address, size_t* bytes);

}  // namespace vramscope::simulated
