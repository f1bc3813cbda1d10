// SPDX-License-Identifier: Apache-2.0
// Oracle: this program itself, whose functions, path and build id are known.
#include "profiler/model/symbol_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <link.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace vramscope::model {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// No library exports it, and no dynamic symbol names it.
__attribute__((noinline, used)) int HiddenFunction(int x) { return x * 31 + 7; }

struct Self {
  uintptr_t base = 0;
  std::string build;
};

// For dl_iterate_phdr: reads only the first object, which is this program.
int LookAtSelf(dl_phdr_info* info, size_t, void* argument) {
  auto& self = *static_cast<Self*>(argument);
  self.base = info->dlpi_addr;
  for (size_t i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(info->dlpi_addr + header.p_vaddr);
    if (note->n_type != NT_GNU_BUILD_ID) continue;
    const auto* id = reinterpret_cast<const unsigned char*>(note + 1) + 4;
    char digits[3];
    for (size_t byte = 0; byte < 8; ++byte) {
      std::snprintf(digits, sizeof digits, "%02x", id[byte]);
      self.build += digits;
    }
  }
  return 1;
}

class SymbolFilesTest : public ::testing::Test {
 protected:
  SymbolFilesTest() {
    dl_iterate_phdr(LookAtSelf, &self_);
    char path[4096];
    path_.assign(path, static_cast<size_t>(readlink("/proc/self/exe", path, sizeof path)));
    char place[32];
    const auto inside = reinterpret_cast<uintptr_t>(&HiddenFunction) - self_.base + 1;
    std::snprintf(place, sizeof place, "+0x%lx", static_cast<unsigned long>(inside));
    place_ = place;
  }
  std::string Shown(const std::string& text) {
    const auto frame = ParseUnnamedFrame(text);
    return frame.has_value() ? SymbolFiles().Shown(*frame) : "not a frame";
  }

  Self self_;
  std::string path_, place_;
};

TEST_F(SymbolFilesTest, AFunctionThatIsNotExportedIsNamedByTheFilesOwnTable) {
  if (self_.build.empty()) GTEST_SKIP() << "linked without a build id";
  const std::string shown = Shown(path_ + place_ + " [" + self_.build + "]");
  EXPECT_THAT(shown, StartsWith("_Z"));
  EXPECT_THAT(shown, HasSubstr("HiddenFunction"));
  EXPECT_THAT(shown, HasSubstr(" (model_test" + place_ + ")"));
}

TEST_F(SymbolFilesTest, AnotherBuildOfTheFileNamesNothing) {
  EXPECT_EQ(Shown(path_ + place_ + " [0123456789abcdef]"), "model_test" + place_);
}

TEST_F(SymbolFilesTest, WhatIsNoLibraryNamesNothing) {
  EXPECT_EQ(Shown("/dev/zero+0x10 [00]"), "zero+0x10");
  EXPECT_EQ(Shown("/nowhere/libx.so+0x10 [00]"), "libx.so+0x10");
  EXPECT_EQ(Shown("/+0x10 [00]"), "+0x10");
}

TEST_F(SymbolFilesTest, OtherTextsAreNotTakenForFrames) {
  for (const char* text : {"libx.so+0x10", "/lib/x.so+0x10", "/lib/x.so+0xgg [00]", "/lib/x.so+0x10 []",
                           "main (/src/train.py:3)", "/data/[1]", ""})
    EXPECT_FALSE(ParseUnnamedFrame(text).has_value()) << text;
}

}  // namespace
}  // namespace vramscope::model
