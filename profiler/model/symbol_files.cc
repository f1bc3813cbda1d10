// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/symbol_files.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace vramscope::model {
namespace {

constexpr size_t kMostTableBytes = 64 << 20;  // per file: symbols and their names
constexpr size_t kMostSections = 4096;

// A file named by an untrusted trace. Reads only regular files, and never blocks.
class RegularFile {
 public:
  explicit RegularFile(const std::string& path)
      : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {
    struct stat facts;
    if (fd_ >= 0 && fstat(fd_, &facts) == 0 && S_ISREG(facts.st_mode))
      size_ = static_cast<uint64_t>(facts.st_size);
  }
  ~RegularFile() {
    if (fd_ >= 0) close(fd_);
  }
  RegularFile(const RegularFile&) = delete;
  RegularFile& operator=(const RegularFile&) = delete;

  // Reads all bytes or none.
  [[nodiscard]] bool Read(uint64_t offset, void* into, size_t bytes) const {
    if (offset > size_ || bytes > size_ - offset) return false;
    auto* at = static_cast<char*>(into);
    while (bytes != 0) {
      const ssize_t got = pread(fd_, at, bytes, static_cast<off_t>(offset));
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

std::string Hex(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 0xf];
  }
  return text;
}

// The build id in a note section, in hex; "" = none.
std::string BuildIn(const std::string& notes) {
  constexpr std::string_view kGnu("GNU\0", 4);
  const auto padded = [](uint64_t bytes) { return (bytes + 3) & ~uint64_t{3}; };
  for (uint64_t at = 0; at + sizeof(Elf64_Nhdr) <= notes.size();) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + at, sizeof header);
    at += sizeof header;
    const uint64_t id = at + padded(header.n_namesz);
    if (id + header.n_descsz > notes.size()) break;
    const bool is_gnu = header.n_namesz == kGnu.size() && notes.compare(at, kGnu.size(), kGnu) == 0;
    if (is_gnu && header.n_type == NT_GNU_BUILD_ID) return Hex(notes.substr(id, header.n_descsz));
    at = id + padded(header.n_descsz);
  }
  return "";
}

std::vector<Elf64_Shdr> SectionsOf(const RegularFile& file) {
  Elf64_Ehdr header;
  if (!file.Read(0, &header, sizeof header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};
  const bool known = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                     header.e_shentsize == sizeof(Elf64_Shdr) && header.e_shnum <= kMostSections;
  if (!known) return {};
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!file.Read(header.e_shoff, sections.data(), sections.size() * sizeof(Elf64_Shdr))) return {};
  return sections;
}

std::string Content(const RegularFile& file, const Elf64_Shdr& section) {
  if (section.sh_size > kMostTableBytes) return "";
  std::string bytes(section.sh_size, '\0');
  return file.Read(section.sh_offset, bytes.data(), bytes.size()) ? bytes : "";
}

bool IsBuild(const RegularFile& file, const std::vector<Elf64_Shdr>& sections, std::string_view build) {
  return std::any_of(sections.begin(), sections.end(), [&](const Elf64_Shdr& section) {
    if (section.sh_type != SHT_NOTE) return false;
    const std::string found = BuildIn(Content(file, section));
    return !found.empty() && found.starts_with(build);
  });
}

}  // namespace

std::optional<SymbolFile> SymbolFile::Open(const std::string& path, std::string_view build) {
  const RegularFile file(path);
  const std::vector<Elf64_Shdr> sections = SectionsOf(file);
  const auto table = std::find_if(sections.begin(), sections.end(), [](const Elf64_Shdr& section) {
    return section.sh_type == SHT_SYMTAB && section.sh_entsize == sizeof(Elf64_Sym);
  });
  if (table == sections.end() || table->sh_link >= sections.size()) return std::nullopt;
  if (!IsBuild(file, sections, build)) return std::nullopt;
  const std::string symbols = Content(file, *table);
  SymbolFile found;
  const std::string names = Content(file, sections[table->sh_link]);
  for (size_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, symbols.data() + at, sizeof symbol);
    const bool function = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF;
    if (!function || symbol.st_size == 0 || symbol.st_name >= names.size()) continue;
    found.functions_.push_back({symbol.st_value,
                                static_cast<uint32_t>(std::min<uint64_t>(symbol.st_size, UINT32_MAX)),
                                symbol.st_name});
  }
  std::stable_sort(found.functions_.begin(), found.functions_.end(),
                   [](const Function& a, const Function& b) { return a.begin < b.begin; });
  found.names_ = names;
  return found;
}

std::string_view SymbolFile::NameAt(uint64_t address) const {
  const auto after = std::upper_bound(functions_.begin(), functions_.end(), address,
                                      [](uint64_t at, const Function& one) { return at < one.begin; });
  if (after == functions_.begin()) return {};
  const Function& function = *std::prev(after);
  if (address - function.begin >= function.size) return {};
  const std::string_view rest = std::string_view(names_).substr(function.name);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace vramscope::model
