// SPDX-License-Identifier: Apache-2.0
// Allocates in functions that are in no dynamic symbol table, like most functions of a C++ program.
//
//   static_names BLOCKS      links only the stand-in of libc10.so; keeps all its blocks
//
// It tells the recorder itself that it is ready to train, as the Python shim does: without torch there is no
// optimizer to show it. `noinline` keeps the frames; the empty asm keeps the calls from becoming jumps.
#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace c10 {
class ProfiledCPUMemoryReporter {
 public:
  void New(void* address, size_t bytes);
};
}  // namespace c10

namespace {

constexpr uint64_t kFirstAddress = uint64_t{1} << 40;
constexpr size_t kBlockBytes = 1 << 20;

class Pool {
 public:
  __attribute__((noinline)) void Take(size_t bytes) {
    c10::ProfiledCPUMemoryReporter().New(reinterpret_cast<void*>(kFirstAddress + (taken_++ << 24)), bytes);
    asm volatile("");
  }

 private:
  uint64_t taken_ = 0;
};

}  // namespace

static __attribute__((noinline)) void fill_the_pool(Pool& pool, int blocks) {
  for (int i = 0; i < blocks; ++i) pool.Take(kBlockBytes);
  asm volatile("");
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  using Ready = uint32_t (*)(const char*, const char*);
  if (const auto ready = reinterpret_cast<Ready>(dlsym(RTLD_DEFAULT, "vramscope_torch_ready"))) ready("", "");
  Pool pool;
  fill_the_pool(pool, std::atoi(argv[1]));
  return 0;
}
