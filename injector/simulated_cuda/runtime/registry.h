// SPDX-License-Identifier: Apache-2.0
// The kernels and variables that the program's libraries register at load time, by the address of their host
// side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::simulated {

// A wheel registers about 100,000 kernels at start, and few of them are queried.
void NoteKernel(const void* host, const void* module, const char* name);
// The fat binary's wrapper; nullptr if the kernel was not registered.
const void* ModuleOf(const void* host);
// How many kernels the module has; at least 1.
size_t KernelsOf(const void* module);
// The modules that have kernels, each once.
std::vector<const void*> Modules();
// The mangled name from its registration; "" if it was not registered.
const char* KernelName(const void* host);

void NoteVariable(const void* host, size_t bytes);
// The variable's memory on the device, taken at the first query (a GPU takes it when the module is loaded).
// kNotFound if it was not registered.
int FindVariable(const void* host, uint64_t* address, size_t* bytes);

}  // namespace vramscope::simulated
