// SPDX-License-Identifier: Apache-2.0
// Loads libraries that use CUDA in different ways, as a large program does, and prints what the device has
// given out.
//
//   clients [deep:]LIBRARY...      each takes 2 MiB, 4 MiB, ...; "deep:" loads it with RTLD_DEEPBIND
//
// stdout: the simulated device's ledger; then the result of dlsym(RTLD_NEXT) in this program.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

template <typename Function>
Function* In(void* library, const char* name) {
  auto* const found = reinterpret_cast<Function*>(dlsym(library, name));
  if (found == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return found;
}

}  // namespace

int main(int count, char** arguments) {
  size_t bytes = size_t{2} << 20;
  for (int i = 1; i < count; ++i, bytes *= 2) {
    const bool deep = std::strncmp(arguments[i], "deep:", 5) == 0;
    const int flags = RTLD_NOW | RTLD_LOCAL | (deep ? RTLD_DEEPBIND : 0);
    void* const library = dlopen(arguments[i] + (deep ? 5 : 0), flags);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    if (const int error = In<int(size_t)>(library, "client_takes")(bytes)) return 10 + error;
  }
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  std::string text(size_t{1} << 16, '\0');
  In<size_t(char*, size_t)>(driver, "vramscope_simulated_ledger")(text.data(), text.size());
  std::fputs(text.c_str(), stdout);

  // What a program may see of the loader.
  std::printf("%d", dlsym(RTLD_NEXT, "malloc") != nullptr);
  std::printf("%d", dlsym(driver, "cuNoSuchFunction") == nullptr &&
                        std::strstr(dlerror(), "cuNoSuchFunction") != nullptr);
  std::printf("%d", dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == nullptr);  // no driver in the global scope
  std::printf("%d\n", dlvsym(RTLD_DEFAULT, "dlopen", "GLIBC_2.2.5") != nullptr);
  // The recorder comes after the program in the search order: found only if dlsym knows its real caller.
  std::printf("%d\n", dlsym(RTLD_NEXT, "vramscope_mark") != nullptr);
}
