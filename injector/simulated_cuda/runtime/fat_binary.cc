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

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kContainerMagic = 0xba55ed50;
constexpr uint16_t kPtx = 1;
constexpr uint16_t kMachineCode = 2;

}  // namespace

KernelVersion BestVersion(const void* wrapper, int architecture) {
  const KernelVersion unknown = {architecture, architecture};
  Wrapper outer;
  if (wrapper == nullptr) return unknown;
  std::memcpy(&outer, wrapper, sizeof(outer));
  if (outer.magic != kWrapperMagic || outer.container == nullptr) return unknown;
  Container container;
  std::memcpy(&container, outer.container, sizeof(container));
  if (container.magic != kContainerMagic) return unknown;
  int code = 0, ptx = 0;
  const unsigned char* at = outer.container + container.header_bytes;
  const unsigned char* const end = at + container.bytes;
  while (at + sizeof(Entry) <= end) {
    Entry entry;
    std::memcpy(&entry, at, sizeof(entry));
    const int made_for = static_cast<int>(entry.architecture);
    const bool same_major = made_for / 10 == architecture / 10;
    if (made_for <= architecture) {
      if (entry.kind == kMachineCode && same_major && made_for > code) code = made_for;
      if (entry.kind == kPtx && made_for > ptx) ptx = made_for;
    }
    if (entry.header_bytes < sizeof(Entry)) break;
    at += entry.header_bytes + entry.bytes;
  }
  if (code != 0) return {code, code};
  return ptx != 0 ? KernelVersion{ptx, architecture} : KernelVersion{};
}

}  // namespace vramscope::simulated
