// SPDX-License-Identifier: Apache-2.0
#include "injector/core/elf_image.h"

#include <string.h>

#include <atomic>

namespace vramscope::injector {

namespace {

// Not strcmp: in a sanitized program, that is the sanitizer's function. It must not be called before the
// sanitizer is initialized, and symbols are looked up earlier.
bool SameText(const char* first, const char* second) {
  for (; *first == *second; ++first, ++second) {
    if (*first == 0) return true;
  }
  return false;
}

}  // namespace

bool ElfImage::Read(const dl_phdr_info& info) {
  *this = ElfImage{};
  name_ = info.dlpi_name != nullptr ? info.dlpi_name : "";
  base_ = info.dlpi_addr;
  headers_ = info.dlpi_phdr;
  header_count_ = info.dlpi_phnum;
  for (size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    if (header.p_type == PT_DYNAMIC) dynamic_ = reinterpret_cast<const ElfW(Dyn)*>(base_ + header.p_vaddr);
    if (header.p_type == PT_GNU_RELRO) {
      relro_begin_ = base_ + header.p_vaddr;
      relro_end_ = relro_begin_ + header.p_memsz;
    }
  }
  if (dynamic_ == nullptr) return false;
  ReadDynamic(dynamic_);
  return symbols_ != nullptr && strings_ != nullptr && Contains(symbols_);
}

void ElfImage::ReadDynamic(const ElfW(Dyn) * dynamic) {
  for (; dynamic->d_tag != DT_NULL; ++dynamic) {
    // The C library has usually added the load base to these addresses. In read-only dynamic sections it has
    // not, and they are still offsets.
    const uintptr_t address = Absolute(dynamic->d_un.d_ptr);
    switch (dynamic->d_tag) {
      case DT_SYMTAB:
        symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
        break;
      case DT_STRTAB:
        strings_ = reinterpret_cast<const char*>(address);
        break;
      case DT_GNU_HASH:
        gnu_hash_ = reinterpret_cast<const uint32_t*>(address);
        break;
      case DT_RELA:
        relocations_ = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_RELASZ:
        relocation_count_ = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      case DT_JMPREL:
        plt_relocations_ = reinterpret_cast<const ElfW(Rela)*>(address);
        break;
      case DT_PLTRELSZ:
        plt_relocation_count_ = dynamic->d_un.d_val / sizeof(ElfW(Rela));
        break;
      default:
        break;
    }
  }
}

bool ElfImage::Contains(const void* address) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  for (size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    const uintptr_t begin = base_ + header.p_vaddr;
    if (header.p_type == PT_LOAD && wanted >= begin && wanted - begin < header.p_memsz) return true;
  }
  return false;
}

// GNU hash section: {buckets, first hashed symbol, bloom words, bloom shift}, bloom filter, buckets, chains
// of hashes whose last has bit 0 set.
const ElfW(Sym) * ElfImage::Lookup(const char* symbol) const {
  if (gnu_hash_ == nullptr) return nullptr;
  uint32_t hash = 5381;
  for (const char* at = symbol; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);

  const uint32_t bucket_count = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2],
                 shift = gnu_hash_[3];
  if (bucket_count == 0 || bloom_words == 0) return nullptr;
  const auto* const bloom = reinterpret_cast<const uint64_t*>(gnu_hash_ + 4);
  const auto* const buckets = reinterpret_cast<const uint32_t*>(bloom + bloom_words);
  const uint32_t* const chains = buckets + bucket_count;

  const uint64_t both = uint64_t{1} << (hash % 64) | uint64_t{1} << ((hash >> shift) % 64);
  if ((bloom[(hash / 64) % bloom_words] & both) != both) return nullptr;
  uint32_t index = buckets[hash % bucket_count];
  if (index < first) return nullptr;
  for (;; ++index) {
    const uint32_t entry = chains[index - first];
    if ((entry | 1) == (hash | 1) && SameText(strings_ + symbols_[index].st_name, symbol))
      return &symbols_[index];
    if ((entry & 1) != 0) return nullptr;
  }
}

void* ElfImage::Find(const char* symbol, size_t* bytes) const {
  const ElfW(Sym)* const found = Lookup(symbol);
  if (found == nullptr || found->st_shndx == SHN_UNDEF || found->st_value == 0) return nullptr;
  const unsigned type = ELF64_ST_TYPE(found->st_info);
  if (type != STT_FUNC && type != STT_OBJECT && type != STT_NOTYPE) return nullptr;
  if (bytes != nullptr) *bytes = found->st_size;
  return reinterpret_cast<void*>(base_ + found->st_value);
}

// The hash section names its last symbol only through the chain of its last bucket.
size_t ElfImage::SymbolCount() const {
  if (gnu_hash_ == nullptr) return 0;
  const uint32_t bucket_count = gnu_hash_[0], first = gnu_hash_[1], bloom_words = gnu_hash_[2];
  const uint32_t* const buckets = gnu_hash_ + 4 + size_t{bloom_words} * 2;
  const uint32_t* const chains = buckets + bucket_count;
  uint32_t last = 0;
  for (uint32_t i = 0; i < bucket_count; ++i) last = buckets[i] > last ? buckets[i] : last;
  if (last < first) return 0;
  while ((chains[last - first] & 1) == 0) ++last;
  return size_t{last} + 1;
}

const char* ElfImage::FunctionAt(const void* address) const {
  const uintptr_t wanted = reinterpret_cast<uintptr_t>(address) - base_;
  const size_t count = SymbolCount();
  for (size_t i = 0; i < count; ++i) {
    const ElfW(Sym)& symbol = symbols_[i];
    if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
        wanted >= symbol.st_value && wanted - symbol.st_value < symbol.st_size) {
      return strings_ + symbol.st_name;
    }
  }
  return nullptr;
}

size_t ElfImage::BuildId(unsigned char* bytes, size_t most) const {
  for (size_t i = 0; i < header_count_; ++i) {
    const ElfW(Phdr)& header = headers_[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(base_ + header.p_vaddr);
    const unsigned char* const end = at + header.p_memsz;
    while (static_cast<size_t>(end - at) >= sizeof(ElfW(Nhdr))) {
      ElfW(Nhdr) note;
      memcpy(&note, at, sizeof note);
      const unsigned char* const name = at + sizeof note;
      const size_t name_bytes = (size_t{note.n_namesz} + 3) & ~size_t{3};
      const size_t bytes_of_both = name_bytes + ((size_t{note.n_descsz} + 3) & ~size_t{3});
      if (bytes_of_both > static_cast<size_t>(end - name)) break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
        const size_t count = note.n_descsz < most ? note.n_descsz : most;
        memcpy(bytes, name + name_bytes, count);
        return count;
      }
      at = name + bytes_of_both;
    }
  }
  return 0;
}

bool ElfImage::Needs(const char* prefix) const {
  const size_t length = strlen(prefix);
  for (const ElfW(Dyn)* entry = dynamic_; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_NEEDED && strncmp(strings_ + entry->d_un.d_val, prefix, length) == 0) return true;
  }
  return false;
}

bool ElfImage::IsReadOnlyAfterRelocation(const void* address) const {
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  return wanted >= relro_begin_ && wanted < relro_end_;
}

bool ElfImage::FillsSlot(uint32_t type) {
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT || type == R_X86_64_64;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT || type == R_AARCH64_ABS64;
#else
  return false;
#endif
}

namespace {

const char own_byte = 0;  // lies in this library

// The bounds of this library in memory.
struct OwnCode {
  std::atomic<uintptr_t> begin;
  std::atomic<uintptr_t> end;
};
constinit OwnCode own_code = {};

int FindOwnCode(dl_phdr_info* info, size_t, void*) {
  uintptr_t begin = UINTPTR_MAX, end = 0;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_LOAD) continue;
    const uintptr_t first = info->dlpi_addr + header.p_vaddr;
    begin = first < begin ? first : begin;
    end = first + header.p_memsz > end ? first + header.p_memsz : end;
  }
  const auto own = reinterpret_cast<uintptr_t>(&own_byte);
  if (own < begin || own >= end) return 0;
  own_code.begin.store(begin, std::memory_order_relaxed);
  own_code.end.store(end, std::memory_order_release);
  return 1;
}

struct Visitor {
  VisitImage visit;
  void* argument;
};

int VisitOne(dl_phdr_info* info, size_t, void* argument) {
  const auto& visitor = *static_cast<const Visitor*>(argument);
  ElfImage image;
  if (!image.Read(*info) || image.Contains(&own_byte)) return 0;
  return visitor.visit(image, visitor.argument) ? 0 : 1;
}

}  // namespace

void ForEachImage(VisitImage visit, void* argument) {
  Visitor visitor = {visit, argument};
  dl_iterate_phdr(VisitOne, &visitor);
}

bool IsOwnCode(const void* address) {
  if (own_code.end.load(std::memory_order_acquire) == 0) dl_iterate_phdr(FindOwnCode, nullptr);
  const auto wanted = reinterpret_cast<uintptr_t>(address);
  return wanted >= own_code.begin.load(std::memory_order_relaxed) &&
         wanted < own_code.end.load(std::memory_order_relaxed);
}

void* FindSymbol(const char* symbol, size_t* bytes) {
  struct Search {
    const char* symbol;
    size_t* bytes;
    void* found;
  } search = {symbol, bytes, nullptr};
  ForEachImage(
      [](const ElfImage& image, void* argument) {
        auto& wanted = *static_cast<Search*>(argument);
        wanted.found = image.Find(wanted.symbol, wanted.bytes);
        return wanted.found == nullptr;
      },
      &search);
  return search.found;
}

}  // namespace vramscope::injector
