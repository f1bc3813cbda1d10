// SPDX-License-Identifier: Apache-2.0
// Finds the loaded object at an address.
//
// _dl_find_object (glibc 2.35) takes no lock, unlike dladdr. An older C library needs a walk under the lock;
// the result is cached.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct LoadedObject {
  uintptr_t begin = 0;
  uintptr_t end = 0;           // one past the last byte
  const char* path = nullptr;  // as in the loader's list: "" = the program
};

// False outside all loaded objects (generated code).
bool FindObject(const void* address, LoadedObject* object);
bool SameObject(const void* first, const void* second);
// "libcuda.so.1" from a path; the program's name for "".
const char* ObjectName(const LoadedObject& object);
// True if the object's file name begins with `prefix`.
bool IsNamed(const LoadedObject& object, const char* prefix);
bool IsDriver(const LoadedObject& object);

}  // namespace vramscope::injector
