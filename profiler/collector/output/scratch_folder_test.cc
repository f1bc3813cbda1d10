// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/output/scratch_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, IsGoneWithItsOwnerAndLeavesTheUsersOwn) {
  const std::string place = ::testing::TempDir() + "scratch_folder_test";
  const std::string users = place + "/vramscope-dryrun-results";
  fs::create_directories(users);
  std::ofstream(users + "/table.csv") << "precious";
  fs::last_write_time(users, fs::file_time_type::clock::now() - std::chrono::minutes(1));
  setenv("TMPDIR", place.c_str(), 1);
  std::string path;
  {
    const ScratchFolder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(fs::exists(path + "/file"));
  }
  unsetenv("TMPDIR");
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(fs::exists(users + "/table.csv"));
  fs::remove_all(place);
}

TEST(ScratchFolderTest, IsGoneWhenASignalEndsItsOwner) {
  const std::string place = ::testing::TempDir() + "scratch_folder_signal_test";
  fs::create_directories(place);
  const pid_t child = fork();
  if (child == 0) {
    setenv("TMPDIR", place.c_str(), 1);
    const ScratchFolder folder;
    fs::create_directories(folder.path() + "/below");
    std::ofstream(folder.path() + "/below/file") << "text";
    if (fork() == 0) {
      raise(SIGINT);  // a child that has not called exec yet keeps the folder
      _exit(1);
    }
    int status = 0;
    wait(&status);
    if (!fs::exists(folder.path() + "/below/file")) _exit(2);
    raise(SIGINT);
    _exit(3);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status)) << WEXITSTATUS(status);
  EXPECT_EQ(WTERMSIG(status), SIGINT);
  EXPECT_TRUE(fs::is_empty(place));
  fs::remove_all(place);
}

}  // namespace
}  // namespace vramscope::collector
