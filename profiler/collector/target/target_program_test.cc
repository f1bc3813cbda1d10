// SPDX-License-Identifier: Apache-2.0
// Oracle: programs of this machine, and copies of them with one thing changed.
#include "profiler/collector/target/target_program.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class TargetProgramTest : public ::testing::Test {
 protected:
  TargetProgramTest() {
    std::string pattern = ::testing::TempDir() + "program_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~TargetProgramTest() override { fs::remove_all(folder_); }

  std::string CopyOf(const std::string& program) {
    fs::copy_file(program, folder_ + "/program", fs::copy_options::overwrite_existing);
    return folder_ + "/program";
  }
  void Patch(const std::string& path, long offset, const std::string& bytes) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(offset);
    file << bytes;
  }
  std::string Script(const std::string& first_line) {
    std::ofstream(folder_ + "/script") << first_line << "\n";
    chmod((folder_ + "/script").c_str(), 0755);
    return folder_ + "/script";
  }
  static std::string SentenceFor(const std::string& path) {
    const Result<std::string> notice = CheckRecordable(path);
    if (!notice.ok()) return notice.error().sentence;
    return notice->empty() ? "recordable" : "runs: " + *notice;
  }

  std::string folder_;
};

TEST_F(TargetProgramTest, CommandsAreFoundAsTheShellFindsThem) {
  EXPECT_EQ(*FindProgram("/bin/sh"), "/bin/sh");
  EXPECT_THAT(*FindProgram("sh"), HasSubstr("/sh"));
  EXPECT_THAT(FindProgram("no-such-command").error().sentence, HasSubstr("not found"));
  EXPECT_THAT(FindProgram("./no-such-file").error().sentence, HasSubstr("No such file"));
  EXPECT_THAT(FindProgram("/etc/passwd").error().sentence, HasSubstr("may run"));
  EXPECT_FALSE(FindProgram(folder_).ok()) << "a folder is no program";
  EXPECT_FALSE(FindProgram("").ok());
}

TEST_F(TargetProgramTest, OrdinaryProgramsAndScriptsAreRecordable) {
  EXPECT_EQ(SentenceFor("/bin/sh"), "recordable");
  EXPECT_EQ(SentenceFor(Script("#!/bin/sh")), "recordable");
  EXPECT_EQ(SentenceFor(Script("#! /usr/bin/env python3")), "recordable");
  EXPECT_EQ(SentenceFor(Script("echo no first line")), "recordable");
}

TEST_F(TargetProgramTest, SetuidAndSetgidProgramsAreRefused) {
  const std::string program = CopyOf("/bin/sh");
  chmod(program.c_str(), 04755);
  EXPECT_THAT(SentenceFor(program), HasSubstr("is setuid"));
  chmod(program.c_str(), 02755);
  EXPECT_THAT(SentenceFor(program), HasSubstr("is setgid"));
  chmod(program.c_str(), 0755);
  EXPECT_EQ(SentenceFor(program), "recordable");
}

TEST_F(TargetProgramTest, AStaticProgramRunsWithANoticeAlsoBehindAScript) {
  // Without its interpreter segment a program is static as far as the kernel is concerned.
  const std::string program = CopyOf("/bin/sh");
  std::ifstream file(program, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    const auto offset = static_cast<long>(header.e_phoff) + i * static_cast<long>(sizeof(segment));
    file.seekg(offset);
    file.read(reinterpret_cast<char*>(&segment), sizeof(segment));
    if (segment.p_type == PT_INTERP) Patch(program, offset, std::string(4, '\0'));
  }
  EXPECT_THAT(SentenceFor(program), AllOf(StartsWith("runs: "), HasSubstr("statically linked")));
  EXPECT_THAT(SentenceFor(Script("#!" + program)),
              AllOf(StartsWith("runs: "), HasSubstr("statically linked")));
}

TEST_F(TargetProgramTest, OtherArchitecturesAreRefused) {
  const std::string program = CopyOf("/bin/sh");
  Patch(program, EI_CLASS, std::string(1, ELFCLASS32));
  EXPECT_THAT(SentenceFor(program), HasSubstr("32-bit"));
  Patch(program, EI_CLASS, std::string(1, ELFCLASS64));
  Patch(program, offsetof(Elf64_Ehdr, e_machine), std::string(1, static_cast<char>(EM_RISCV)));
  EXPECT_THAT(SentenceFor(program), HasSubstr("another architecture"));
}

TEST_F(TargetProgramTest, CutOffProgramsAndScriptsWithoutInterpreterAreSentences) {
  const std::string program = CopyOf("/bin/sh");
  fs::resize_file(program, 20);
  EXPECT_THAT(SentenceFor(program), HasSubstr("cut off"));
  EXPECT_THAT(SentenceFor(Script("#!/no/such/interpreter")), HasSubstr("/no/such/interpreter"));
}

}  // namespace
}  // namespace vramscope::collector
