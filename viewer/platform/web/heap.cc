// SPDX-License-Identifier: Apache-2.0
// The sbrk that malloc gets its memory from, instead of the C library's: it grows memory in large steps.
//
// malloc asks for 64 KiB at a time. Each growth makes a new buffer object in the browser: that took 13 of 24
// s for a file of ten million events. So the memory grows in large steps. Untouched pages take no memory of
// the machine.
//
//   0              break                     memory's size
//   │ in use       │ for the next calls      │
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "viewer/script/most_resident.h"

namespace vramscope {
namespace {

constexpr size_t kPage = 65536;      // of WebAssembly
constexpr size_t kLeastPages = 128;  // 8 MiB
constexpr size_t kPartOfMemory = 8;  // it grows by an eighth

size_t Pages() { return __builtin_wasm_memory_size(0); }
bool Grow(size_t pages) { return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX; }

// All of the module's initial memory belongs to malloc. 64 bits, because a memory of 4 GiB ends at 2^32.
uint64_t& Break() {
  static uint64_t end = uint64_t{Pages()} * kPage;
  return end;
}

}  // namespace

namespace viewer {

// The memory that malloc has taken so far; it gives nothing back.
uint64_t MostResidentBytes() { return Break(); }

}  // namespace viewer
}  // namespace vramscope

// As in the C library, an increment is a multiple of a page, and memory is never given back.
extern "C" void* sbrk(intptr_t increment) {
  using namespace vramscope;
  void* const kFailed = reinterpret_cast<void*>(-1);
  uint64_t& end = Break();
  if (increment < 0 || increment % static_cast<intptr_t>(kPage) != 0) return kFailed;
  const uint64_t wanted = end + static_cast<uint64_t>(increment);
  if (const size_t pages = Pages(); wanted > uint64_t{pages} * kPage) {
    const auto missing = static_cast<size_t>(wanted / kPage - pages);
    if (!Grow(std::max({missing, kLeastPages, pages / kPartOfMemory})) && !Grow(missing)) {
      errno = ENOMEM;
      return kFailed;
    }
  }
  void* const begin = reinterpret_cast<void*>(static_cast<uintptr_t>(end));
  end = wanted;
  return begin;
}
