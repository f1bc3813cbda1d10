// SPDX-License-Identifier: Apache-2.0
// Which loaded object an address lies in.
//
// Why not dladdr: it takes the loader's lock, and searches the symbol table of the object that it finds.
// _dl_find_object (glibc 2.35) takes no lock and no time; with an older C library the list of objects is
// walked under its lock, and what was found is kept.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct LoadedObject {
  uintptr_t begin = 0;
  uintptr_t end = 0;           // behind the last byte
  const char* path = nullptr;  // as the loader has it: "" is the program itself
};

// False for addresses of no loaded object (generated code).
bool FindObject(const void* address, LoadedObject* object);
bool SameObject(const void* first, const void* second);
// "libcuda.so.1" of a path; the program's own name for "".
const char* ObjectName(const LoadedObject& object);
// Whether the object's file name begins so.
bool IsNamed(const LoadedObject& object, const char* prefix);
// The driver itself, in whatever way it is installed.
bool IsDriver(const LoadedObject& object);

}  // namespace vramscope::injector
