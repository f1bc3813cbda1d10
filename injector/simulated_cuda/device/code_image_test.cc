// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/code_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace vramscope::simulated {
namespace {

constexpr int kHopper = 90;

// An ELF file with sections of (flags, bytes).
std::string Elf(const std::vector<std::pair<uint64_t, uint64_t>>& sections) {
  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shoff = sizeof(header);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  std::string file(reinterpret_cast<const char*>(&header), sizeof(header));
  for (const auto& [flags, bytes] : sections) {
    Elf64_Shdr section = {};
    section.sh_flags = flags;
    section.sh_size = bytes;
    file.append(reinterpret_cast<const char*>(&section), sizeof(section));
  }
  return file;
}

TEST(CodeImageTest, OfACubinItsLoadedSections) {
  const std::string cubin = Elf({{0, 7000}, {SHF_ALLOC | SHF_EXECINSTR, 4096}, {SHF_ALLOC, 128}});
  EXPECT_EQ(LoadedBytes(cubin.data(), kHopper), 4224U);
}

TEST(CodeImageTest, OfPtxAPartOfItsText) {
  const std::string code = ".version 8.7\n.target sm_90a\n" + std::string(972, 'x');
  ASSERT_EQ(code.size(), 1000U);
  EXPECT_NEAR(static_cast<double>(LoadedBytes(code.c_str(), kHopper)), 600, 1);
  const std::string commented =
      "// Generated\n" + code + "\n\t.loc 1 2 3\n  // more\n.section .debug_info\n.b8 1\n" + code;
  EXPECT_NEAR(static_cast<double>(LoadedBytes(commented.c_str(), kHopper)), 600, 1)
      << "comments and debugging information are no code";
}

TEST(CodeImageTest, OfWhatIsNoCodeNothing) {
  for (const char* const image : {"", "/", ".", "// no PTX", "\x7f", "code"})
    EXPECT_EQ(LoadedBytes(image, kHopper), 0U) << image;
  EXPECT_EQ(LoadedBytes(nullptr, kHopper), 0U);
}

}  // namespace
}  // namespace vramscope::simulated
