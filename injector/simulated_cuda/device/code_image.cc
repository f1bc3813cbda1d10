// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/code_image.h"

#include <elf.h>

#include <cstring>
#include <string_view>

#include "injector/simulated_cuda/device/overheads.h"
#include "injector/simulated_cuda/runtime/fat_binary.h"

namespace vramscope::simulated {
namespace {

constexpr uint32_t kWrapperMagic = 0x466243b1;
constexpr uint32_t kContainerMagic = 0xba55ed50;

struct Wrapper {  // as fat_binary.cc reads it
  uint32_t magic, version;
  const void* container;
  const void* file;
};

uint64_t BytesOfElf(const char* image) {
  Elf64_Ehdr header;
  std::memcpy(&header, image, sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize < sizeof(Elf64_Shdr)) return 0;
  uint64_t bytes = 0;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, image + header.e_shoff + uint64_t{i} * header.e_shentsize, sizeof(section));
    if ((section.sh_flags & SHF_ALLOC) != 0) bytes += section.sh_size;
  }
  return bytes;
}

// The length without comments and debugging lines, whose length is unrelated to the code.
uint64_t BytesOfPtx(std::string_view text) {
  uint64_t counted = 0;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t first = line.find_first_not_of(" \t");
    const std::string_view words = first == std::string_view::npos ? "" : line.substr(first);
    if (words.substr(0, 8) == ".section") break;
    if (words.substr(0, 2) != "//" && words.substr(0, 4) != ".loc") counted += line.size() + 1;
  }
  return counted * kPtxPercent / 100;
}

bool IsPtx(std::string_view text) {
  return text.find(".version") != std::string_view::npos && text.find(".target") != std::string_view::npos;
}

}  // namespace

uint64_t LoadedBytes(const void* image, int architecture) {
  if (image == nullptr) return 0;
  const auto* const bytes = static_cast<const char*>(image);
  // A byte at a time: a text may be shorter than a magic number.
  if (std::strncmp(bytes, ELFMAG, SELFMAG) == 0) return BytesOfElf(bytes);
  if (bytes[0] == '/' || bytes[0] == '.' || bytes[0] == '\n') return IsPtx(bytes) ? BytesOfPtx(bytes) : 0;
  uint32_t magic = 0;  // neither of the two known ones contains a zero byte
  for (unsigned i = 0; i < sizeof(magic); ++i) {
    if (bytes[i] == '\0') return 0;
    magic |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  if (magic == kWrapperMagic) return MachineCodeBytes(image, architecture);
  const Wrapper wrapper = {kWrapperMagic, 1, image, nullptr};
  return magic == kContainerMagic ? MachineCodeBytes(&wrapper, architecture) : 0;
}

}  // namespace vramscope::simulated
