// SPDX-License-Identifier: Apache-2.0
// Finds the loaded object (program or shared library) that contains an address.
//
// The search calls _dl_find_object (glibc 2.35 and later), which takes no lock, unlike dladdr. With an older
// C library, the search calls dl_iterate_phdr, which holds the loader's lock.
#pragma once

#include <cstdint>

namespace vramscope::injector {

struct LoadedObject {
  uintptr_t begin = 0;
  uintptr_t end = 0;           // one past the last byte
  const char* path = nullptr;  // l_name in the loader's list (link_map); "" = the program
};

// False if no loaded object contains `address` (generated code).
bool FindObject(const void* address, LoadedObject* object);
// True if one loaded object contains both addresses.
bool SameObject(const void* first, const void* second);
// Returns the file name of the object's path ("libcuda.so.1"); the program's name if the path is "".
const char* ObjectName(const LoadedObject& object);
// True if the object's file name begins with `prefix`.
bool IsNamed(const LoadedObject& object, const char* prefix);
// True if the object's file name is that of a library of the CUDA driver (libcuda.so, libnvidia-...).
bool IsDriver(const LoadedObject& object);

}  // namespace vramscope::injector
