// SPDX-License-Identifier: Apache-2.0
// Oracle: the file system.
#include "profiler/collector/output/session_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class SessionFolderTest : public ::testing::Test {
 protected:
  SessionFolderTest() {
    std::string pattern = ::testing::TempDir() + "sessions_XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~SessionFolderTest() override { fs::remove_all(root_); }

  // The folder of a collector that was killed, with a ring file in it.
  std::string LeaveBehind() {
    int report[2];
    EXPECT_EQ(pipe(report), 0);
    const pid_t collector = fork();
    if (collector == 0) {
      auto session = SessionFolder::CreateIn({root_});
      const std::string path = (*session)->path();
      std::ofstream(path + "/1.0.ring") << "ring";
      if (write(report[1], path.data(), path.size()) < 0) _exit(1);
      kill(getpid(), SIGKILL);
    }
    close(report[1]);
    std::string path(4096, '\0');
    path.resize(static_cast<size_t>(read(report[0], path.data(), path.size())));
    close(report[0]);
    waitpid(collector, nullptr, 0);
    return path;
  }

  std::string root_;
};

TEST_F(SessionFolderTest, OnlyItsUserMayEnterAndItIsGoneAfterwards) {
  auto session = SessionFolder::CreateIn({root_});
  ASSERT_TRUE(session.ok());
  const std::string path = (*session)->path();
  struct stat info {};
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  std::ofstream(path + "/1.0.ring") << "ring";
  session->reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(SessionFolderTest, FoldersOfKilledCollectorsAreRemovedAndOthersAreLeft) {
  const std::string dead = LeaveBehind();
  auto living = SessionFolder::CreateIn({"/nowhere", root_});
  ASSERT_TRUE(living.ok());
  EXPECT_FALSE(fs::exists(dead));
  fs::create_directory(root_ + "/someone-else");
  auto another = SessionFolder::CreateIn({root_});
  ASSERT_TRUE(another.ok());
  EXPECT_TRUE(fs::exists((*living)->path()));
  EXPECT_TRUE(fs::exists(root_ + "/someone-else"));
}

TEST_F(SessionFolderTest, ALinkWithOurNameIsNotFollowed) {
  fs::create_directory(root_ + "/precious");
  fs::create_directory_symlink(root_ + "/precious", root_ + "/vramscope-link");
  auto session = SessionFolder::CreateIn({root_});
  EXPECT_TRUE(fs::exists(root_ + "/precious"));
  EXPECT_TRUE(fs::is_symlink(root_ + "/vramscope-link"));
}

TEST_F(SessionFolderTest, NoPlaceAtAllIsASentence) {
  auto session = SessionFolder::CreateIn({"/nowhere", "/nowhere/else"});
  ASSERT_FALSE(session.ok());
  EXPECT_NE(session.error().sentence.find("TMPDIR"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::collector
