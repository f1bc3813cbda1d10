// SPDX-License-Identifier: Apache-2.0
// Oracle: the file system.
#include "profiler/collector/output/new_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public ::testing::Test {
 protected:
  NewFileTest() {
    std::string pattern = ::testing::TempDir() + "new_file_XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("TMPDIR", folder_.c_str(), 1);
  }
  ~NewFileTest() override {
    unsetenv("TMPDIR");
    fs::remove_all(folder_);
  }

  [[nodiscard]] std::string In(const char* name) const { return folder_ + "/" + name; }
  [[nodiscard]] ptrdiff_t Files() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }
  static std::string Text(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  static Status WriteAndCommit(const std::string& path, const std::vector<std::string>& inputs = {}) {
    auto file = VRAMSCOPE_TRY(NewFile::Create(path, inputs));
    VRAMSCOPE_TRY(file.Write("text"));
    return file.Commit();
  }

  std::string folder_;
};

TEST_F(NewFileTest, IsThereWholeOrNotAtAll) {
  {
    auto file = NewFile::Create(In("a"), {});
    ASSERT_TRUE(file.ok() && file->Write("half").ok());
  }
  EXPECT_EQ(Files(), 0);
  EXPECT_TRUE(WriteAndCommit(In("a")).ok());
  EXPECT_EQ(Text(In("a")), "text");
  EXPECT_EQ(Files(), 1);
}

TEST_F(NewFileTest, ReplacesTheFileBehindALinkAndKeepsItsMode) {
  std::ofstream(In("a")) << "old";
  chmod(In("a").c_str(), 0640);
  fs::create_symlink("a", In("link"));
  EXPECT_TRUE(WriteAndCommit(In("link")).ok());
  EXPECT_TRUE(fs::is_symlink(In("link")));
  EXPECT_EQ(Text(In("a")), "text");
  struct stat facts {};
  ASSERT_EQ(stat(In("a").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 07777, 0640U);
}

TEST_F(NewFileTest, APartOfSomebodyElseIsLeft) {
  const std::string part = In("a") + "." + std::to_string(getpid()) + ".part";
  std::ofstream(part) << "theirs";
  EXPECT_TRUE(WriteAndCommit(In("a")).ok());
  EXPECT_EQ(Text(part), "theirs");
}

TEST_F(NewFileTest, WhatIsReadIsNotWritten) {
  std::ofstream(In("run.vms")) << "trace";
  const Status refused = WriteAndCommit(In("run.vms"), {In("run.vms")});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence.find("cannot be written too"), std::string::npos);
  EXPECT_EQ(Text(In("run.vms")), "trace");
}

TEST_F(NewFileTest, StreamsAreWrittenToAndStay) {
  ASSERT_EQ(mkfifo(In("fifo").c_str(), 0600), 0);
  const int reader = open(In("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  EXPECT_TRUE(WriteAndCommit(In("fifo")).ok());
  char text[8] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 4);
  close(reader);
  EXPECT_STREQ(text, "text");
  EXPECT_TRUE(fs::is_fifo(In("fifo")));
  EXPECT_EQ(Files(), 1) << "nothing is left in TMPDIR";

  // As in `--html /dev/stdout >> log`: existing content stays.
  const int log = open(In("log").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  EXPECT_EQ(write(log, "first ", 6), 6);
  EXPECT_TRUE(WriteAndCommit("/dev/fd/" + std::to_string(log)).ok());
  close(log);
  EXPECT_EQ(Text(In("log")), "first text");
}

TEST_F(NewFileTest, NothingIsLeftWhenASignalEndsTheProgram) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    const pid_t child = fork();
    if (child == 0) {
      auto file = NewFile::Create(In("a"), {});
      if (!file.ok() || write(ready[1], "1", 1) != 1) _exit(1);
      while (true) pause();
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(Files(), 1);
    kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal);
    EXPECT_EQ(Files(), 0);
    close(ready[0]);
    close(ready[1]);
  }
}

}  // namespace
}  // namespace vramscope::collector
