// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/runtime/fat_binary.h"

#include <cstdint>
#include <cstring>

namespace vramscope::simulated {
namespace {

struct Wrapper {
  uint32_t magic;
  uint32_t version;
  const unsigned char* container;
  const void* file;
};

struct Container {
  uint32_t magic;
  uint16_t version;
  uint16_t header_bytes;
  uint64_t bytes;
};

struct Entry {
  uint16_t kind;
  uint16_t version;
  uint32_t header_bytes;
  uint64_t bytes;
  uint32_t compressed_bytes;
  uint32_t reserved;
  uint16_t minor, major;  // of the format
  uint32_t architecture;
};
static_assert(sizeof(Entry) == 32);

// Follows the header if the header is long enough.
struct Packing {
  uint64_t name;  // where the name of the source file is, and its length
  uint64_t flags;
  uint64_t reserved;
  uint64_t unpacked_bytes;
};
constexpr uint64_t kPacked = 0x2000 | 0x8000;  // LZ4, Zstandard

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kContainerMagic = 0xba55ed50;
constexpr uint16_t kPtx = 1;
constexpr uint16_t kMachineCode = 2;

// Calls `visit(entry, header)` for every entry; false if the wrapper has an unknown format.
template <typename Visit>
bool ForEachEntry(const void* wrapper, Visit visit) {
  Wrapper outer;
  if (wrapper == nullptr) return false;
  std::memcpy(&outer, wrapper, sizeof(outer));
  if (outer.magic != kWrapperMagic || outer.container == nullptr) return false;
  Container container;
  std::memcpy(&container, outer.container, sizeof(container));
  if (container.magic != kContainerMagic) return false;
  const unsigned char* at = outer.container + container.header_bytes;
  const unsigned char* const end = at + container.bytes;
  while (at + sizeof(Entry) <= end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof(entry));
    visit(entry, at);
    if (entry.header_bytes < sizeof(Entry)) break;
    at += entry.header_bytes + entry.bytes;
  }
  return true;
}

uint64_t UnpackedBytes(const Entry& entry, const unsigned char* header) {
  Packing packing;
  if (entry.header_bytes < sizeof(Entry) + sizeof(packing)) return entry.bytes;
  std::memcpy(&packing, header + sizeof(Entry), sizeof(packing));
  return (packing.flags & kPacked) != 0 ? packing.unpacked_bytes : entry.bytes;
}

}  // namespace

KernelVersion BestVersion(const void* wrapper, int architecture) {
  int code = 0, ptx = 0;
  const bool understood = ForEachEntry(wrapper, [&](const Entry& entry, const unsigned char*) {
    const int made_for = static_cast<int>(entry.architecture);
    if (made_for > architecture) return;
    const bool same_major = made_for / 10 == architecture / 10;
    if (entry.kind == kMachineCode && same_major && made_for > code) code = made_for;
    if (entry.kind == kPtx && made_for > ptx) ptx = made_for;
  });
  if (!understood) return {architecture, architecture};
  if (code != 0) return {code, code};
  return ptx != 0 ? KernelVersion{ptx, architecture} : KernelVersion{};
}

uint64_t MachineCodeBytes(const void* wrapper, int architecture) {
  const int code = BestVersion(wrapper, architecture).binary;
  uint64_t bytes = 0;
  ForEachEntry(wrapper, [&](const Entry& entry, const unsigned char* header) {
    if (entry.kind == kMachineCode && static_cast<int>(entry.architecture) == code)
      bytes += UnpackedBytes(entry, header);
  });
  return bytes;
}

}  // namespace vramscope::simulated
