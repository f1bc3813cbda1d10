// SPDX-License-Identifier: Apache-2.0
#include "injector/cuda/real_dlsym.h"

#include <link.h>
#include <string.h>

#include <atomic>

#include "injector/core/elf_image.h"

// Read by assembly (dlsym_entry.cc): plain pointers, each written once with one store.
extern "C" {
__attribute__((visibility("hidden"))) void* vramscope_real_dlsym = nullptr;
__attribute__((visibility("hidden"))) void* vramscope_real_dlvsym = nullptr;
__attribute__((visibility("hidden"))) void* vramscope_real_dlopen = nullptr;
__attribute__((visibility("hidden"))) void* vramscope_find_dlopen();
__attribute__((visibility("hidden"))) void* vramscope_find_dlsym();
__attribute__((visibility("hidden"))) void* vramscope_find_dlvsym();
}

namespace vramscope::injector {
namespace {

constexpr char own_byte = 0;

// The object's image; its headers are at its beginning. False if it is not an ordinary shared object.
bool ReadImage(const link_map* object, ElfImage* image) {
  if (object->l_addr == 0 || object->l_name == nullptr || object->l_name[0] == 0) return false;
  const auto* const header = reinterpret_cast<const ElfW(Ehdr)*>(object->l_addr);
  dl_phdr_info info = {};
  info.dlpi_addr = object->l_addr;
  info.dlpi_name = object->l_name;
  info.dlpi_phdr = reinterpret_cast<const ElfW(Phdr)*>(object->l_addr + header->e_phoff);
  info.dlpi_phnum = header->e_phnum;
  return image->Read(info);
}

void* Cached(void** slot, const char* symbol) {
  void* known = __atomic_load_n(slot, __ATOMIC_RELAXED);
  if (__builtin_expect(known != nullptr, 1)) return known;
  known = FindBehind(symbol);
  __atomic_store_n(slot, known, __ATOMIC_RELAXED);
  return known;
}

}  // namespace

// Walks the loader's list of objects, as debuggers do. Objects after our own exist as long as we do, because
// they were loaded with us. If we were loaded into a running process, we are the last object. The result is
// then the very first definition, which the program's own calls of dlsym find too. Its library was loaded
// with the program.
void* FindBehind(const char* symbol) {
  bool behind = false;
  void* before = nullptr;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    ElfImage image;
    if (!ReadImage(object, &image)) continue;
    if (!behind && image.Contains(&own_byte)) {
      behind = true;
      continue;
    }
    void* const found = behind || before == nullptr ? image.Find(symbol) : nullptr;
    if (!behind) {
      if (before == nullptr) before = found;
    } else if (found != nullptr) {
      return found;
    }
  }
  return before;
}

Dlsym RealDlsym() { return reinterpret_cast<Dlsym>(vramscope_find_dlsym()); }
Dlopen RealDlopen() { return reinterpret_cast<Dlopen>(vramscope_find_dlopen()); }
Dlvsym RealDlvsym() { return reinterpret_cast<Dlvsym>(vramscope_find_dlvsym()); }

}  // namespace vramscope::injector

extern "C" void* vramscope_find_dlsym() {
  return vramscope::injector::Cached(&vramscope_real_dlsym, "dlsym");
}
extern "C" void* vramscope_find_dlvsym() {
  return vramscope::injector::Cached(&vramscope_real_dlvsym, "dlvsym");
}
extern "C" void* vramscope_find_dlopen() {
  return vramscope::injector::Cached(&vramscope_real_dlopen, "dlopen");
}
