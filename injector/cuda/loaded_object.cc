// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/loaded_object.h"

#include <errno.h>
#include <link.h>
#include <string.h>

#include <atomic>

#include "injector/cuda/real_dlsym.h"

namespace vramscope::injector {
namespace {

struct Search {
  uintptr_t address;
  LoadedObject* object;
};

int Visit(dl_phdr_info* info, size_t, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  uintptr_t begin = UINTPTR_MAX, end = 0;
  bool inside = false;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + header.p_vaddr;
    const uintptr_t behind = first + header.p_memsz;
    inside = inside || (search.address >= first && search.address < behind);
    begin = first < begin ? first : begin;
    end = behind > end ? behind : end;
  }
  if (!inside) return 0;
  *search.object = {begin, end, info->dlpi_name != nullptr ? info->dlpi_name : ""};
  return 1;
}

// struct dl_find_object of <dlfcn.h>, which older headers lack; the last fields differ between processors.
struct Found {
  unsigned long long flags;
  void* begin;
  void* end;
  link_map* object;
  void* rest[8];
};
using Finder = int (*)(const void* address, Found* found);

// Looked up in the loader itself and not imported, so that this library also loads on systems without it.
Finder LockFreeFinder() {
  static std::atomic<Finder> finder = nullptr;
  static std::atomic<bool> searched = false;
  if (!searched.load(std::memory_order_acquire)) {
    finder.store(reinterpret_cast<Finder>(FindBehind("_dl_find_object")), std::memory_order_relaxed);
    searched.store(true, std::memory_order_release);
  }
  return finder.load(std::memory_order_relaxed);
}

}  // namespace

bool FindObject(const void* address, LoadedObject* object) {
  if (Finder const find = LockFreeFinder()) {
    Found found;
    if (find(address, &found) != 0) return false;
    *object = {reinterpret_cast<uintptr_t>(found.begin), reinterpret_cast<uintptr_t>(found.end),
               found.object->l_name};
    return true;
  }
  Search search = {reinterpret_cast<uintptr_t>(address), object};
  return dl_iterate_phdr(Visit, &search) != 0;
}

bool SameObject(const void* first, const void* second) {
  LoadedObject object;
  const auto address = reinterpret_cast<uintptr_t>(second);
  return FindObject(first, &object) && address >= object.begin && address < object.end;
}

const char* ObjectName(const LoadedObject& object) {
  if (object.path == nullptr || object.path[0] == 0) return program_invocation_short_name;
  const char* const slash = strrchr(object.path, '/');
  return slash == nullptr ? object.path : slash + 1;
}

bool IsNamed(const LoadedObject& object, const char* prefix) {
  return strncmp(ObjectName(object), prefix, strlen(prefix)) == 0;
}

bool IsDriver(const LoadedObject& object) {
  // Under WSL, libcuda.so is a loader next to the real driver; MPS and debuggers load libcuda's parts.
  static constexpr const char* kNames[] = {"libcuda.so", "libcuda_", "libnvcuda", "libnvidia-",
                                           "libcudadebugger"};
  for (const char* name : kNames) {
    if (IsNamed(object, name)) return true;
  }
  return false;
}

}  // namespace vramscope::injector
