// SPDX-License-Identifier: Apache-2.0
// The kernels and device variables that libraries register at load time. Their host addresses identify them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::simulated {

// Registers a kernel. Must be fast: a wheel registers about 100,000 kernels, and few of them are queried.
void NoteKernel(const void* host, const void* module, const char* name);
// Returns the module (fat binary wrapper) of a kernel; nullptr if the kernel is not registered.
const void* ModuleOf(const void* host);
// Returns the number of registered kernels of the module; 1 if the module is unknown.
size_t KernelsOf(const void* module);
// Returns all modules that have kernels.
std::vector<const void*> Modules();
// Returns the kernel's mangled name; "" if the kernel is not registered.
const char* KernelName(const void* host);

void NoteVariable(const void* host, size_t bytes);
// Stores the address and size of the variable's device memory, which is allocated at the first call. Returns
// kNotFound if the variable is not registered.
int FindVariable(const void* host, uint64_t* address, size_t* bytes);

}  // namespace vramscope::simulated
