// SPDX-License-Identifier: Apache-2.0
// Finds the loaded object at an address.
//
// Why not dladdr: it takes the loader's lock, and searches the symbol table of the object. _dl_find_object
// (glibc 2.35) takes no lock and almost no time. With an older C library the list of objects is walked under
// its lock, and the result is cached.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct LoadedObject {
  uintptr_t begin = 0;
  uintptr_t end = 0;           // one past the last byte
  const char* path = nullptr;  // as in the loader's list: "" is the program itself
};

// False for addresses outside all loaded objects (generated code).
bool FindObject(const void* address, LoadedObject* object);
bool SameObject(const void* first, const void* second);
// "libcuda.so.1" from a path; the program's own name for "".
const char* ObjectName(const LoadedObject& object);
// True if the object's file name begins with `prefix`.
bool IsNamed(const LoadedObject& object, const char* prefix);
// True for the driver itself, however it is installed.
bool IsDriver(const LoadedObject& object);

}  // namespace vramscope::injector
