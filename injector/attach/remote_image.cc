// SPDX-License-Identifier: Apache-2.0
#include "injector/attach/remote_image.h"

#include <algorithm>
#include <cstring>

namespace vramscope::attach {
namespace {

constexpr uint16_t kMostHeaders = 256;
constexpr uint64_t kMostDynamicBytes = 1 << 16;
constexpr uint32_t kLongestChain = 1 << 20;

uint32_t GnuHash(std::string_view name) {
  uint32_t hash = 5381;
  for (const char each : name) hash = hash * 33 + static_cast<unsigned char>(each);
  return hash;
}

}  // namespace

std::optional<RemoteImage> RemoteImage::Read(pid_t pid, uint64_t base) {
  RemoteImage image(pid, base);
  if (!image.ReadHeaders() || image.symbols_ == 0 || image.strings_ == 0 || image.hash_ == 0)
    return std::nullopt;
  return image;
}

bool RemoteImage::ReadHeaders() {
  Elf64_Ehdr header;
  if (!Get(base_, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMostHeaders)
    return false;
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!ReadMemory(pid_, base_ + header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr)))
    return false;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_LOAD && segment.p_offset == 0) bias_ = base_ - segment.p_vaddr;
  }
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type == PT_DYNAMIC) return ReadDynamic(bias_ + segment.p_vaddr, segment.p_memsz);
  }
  return false;
}

bool RemoteImage::ReadDynamic(uint64_t address, uint64_t bytes) {
  std::vector<Elf64_Dyn> entries(std::min(bytes, kMostDynamicBytes) / sizeof(Elf64_Dyn));
  if (!ReadMemory(pid_, address, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return false;
  for (const Elf64_Dyn& entry : entries) {
    // The C library has added the bias to these, except in read-only dynamic sections.
    if (entry.d_tag == DT_SYMTAB) symbols_ = Absolute(entry.d_un.d_ptr);
    if (entry.d_tag == DT_STRTAB) strings_ = Absolute(entry.d_un.d_ptr);
    if (entry.d_tag == DT_GNU_HASH) hash_ = Absolute(entry.d_un.d_ptr);
  }
  return true;
}

bool RemoteImage::IsNamed(const Elf64_Sym& symbol, std::string_view name) const {
  return ReadText(pid_, strings_ + symbol.st_name, name.size() + 1) == name;
}

uint64_t RemoteImage::Find(std::string_view name, uint64_t* bytes) const {
  uint32_t header[4];  // buckets, first hashed symbol, bloom words, bloom shift
  if (!Get(hash_, header) || header[0] == 0) return 0;
  const uint64_t buckets = hash_ + sizeof header + uint64_t{header[2]} * 8;
  const uint64_t chains = buckets + uint64_t{header[0]} * 4;
  const uint32_t hash = GnuHash(name);
  uint32_t index = 0;
  if (!Get(buckets + uint64_t{hash % header[0]} * 4, index) || index < header[1]) return 0;
  for (uint32_t turn = 0; turn < kLongestChain; ++turn, ++index) {
    uint32_t entry = 0;
    Elf64_Sym symbol;
    if (!Get(chains + uint64_t{index - header[1]} * 4, entry)) return 0;
    if ((entry | 1) == (hash | 1) && Get(symbols_ + uint64_t{index} * sizeof symbol, symbol) &&
        symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 &&
        ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC && IsNamed(symbol, name)) {
      if (bytes != nullptr) *bytes = symbol.st_size;
      return bias_ + symbol.st_value;
    }
    if ((entry & 1) != 0) return 0;
  }
  return 0;
}

std::vector<uint64_t> BasesOf(const std::vector<Mapping>& mappings,
                              std::initializer_list<std::string_view> prefixes) {
  std::vector<uint64_t> bases;
  for (const Mapping& mapping : mappings) {
    const std::string_view name = FileNameOf(mapping);
    const bool named = std::any_of(prefixes.begin(), prefixes.end(),
                                   [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (mapping.offset == 0 && named) bases.push_back(mapping.begin);
  }
  return bases;
}

uint64_t FindIn(pid_t pid, const std::vector<Mapping>& mappings,
                std::initializer_list<std::string_view> prefixes, std::string_view symbol, uint64_t* bytes) {
  for (const uint64_t base : BasesOf(mappings, prefixes)) {
    const auto image = RemoteImage::Read(pid, base);
    if (!image) continue;
    if (const uint64_t found = image->Find(symbol, bytes)) return found;
  }
  return 0;
}

}  // namespace vramscope::attach
