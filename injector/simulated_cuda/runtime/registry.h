// SPDX-License-Identifier: Apache-2.0
// The kernels and variables that the program's libraries register while they are loaded, by the address of
// their host side.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramscope::simulated {

// A wheel registers some 100,000 kernels at start and is asked about few of them.
void NoteKernel(const void* host, const void* module, const char* name);
// The fat binary's wrapper; nullptr when nobody registered the kernel.
const void* ModuleOf(const void* host);
// How many kernels the module has; at least 1.
size_t KernelsOf(const void* module);
// The modules that have kernels, once each.
std::vector<const void*> Modules();
// As its library registered it, mangled; "" when nobody did.
const char* KernelName(const void* host);

void NoteVariable(const void* host, size_t bytes);
// Its memory on the device, taken when it is first asked for (a GPU takes it when the module is loaded).
// kNotFound when nobody registered it.
int FindVariable(const void* host, uint64_t* address, size_t* bytes);

}  // namespace vramscope::simulated
