// SPDX-License-Identifier: Apache-2.0
// Oracle: the file system. A user's folder stays, whatever its name; the folder of a killed process of ours
// is removed.
#include "profiler/collector/output/owned_folder.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class OwnedFolderTest : public ::testing::Test {
 protected:
  OwnedFolderTest() {
    std::string pattern = ::testing::TempDir() + "owned_XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~OwnedFolderTest() override { fs::remove_all(root_); }

  // A folder with a file in it, of a process that was killed.
  std::string LeaveBehind() {
    int report[2];
    EXPECT_EQ(pipe(report), 0);
    const pid_t owner = fork();
    if (owner == 0) {
      auto folder = OwnedFolder::Create(root_, "vramscope-");
      const std::string path = folder->path();
      std::ofstream(path + "/file") << "text";
      if (write(report[1], path.data(), path.size()) < 0) _exit(1);
      kill(getpid(), SIGKILL);
    }
    close(report[1]);
    std::string path(4096, '\0');
    path.resize(static_cast<size_t>(read(report[0], path.data(), path.size())));
    close(report[0]);
    waitpid(owner, nullptr, 0);
    return path;
  }

  [[nodiscard]] std::string Marker(const std::string& folder) const {
    std::ostringstream text;
    text << std::ifstream(folder + "/.vramscope-owner").rdbuf();
    return text.str();
  }
  void Write(const std::string& path, const std::string& text) const { std::ofstream(path) << text; }

  std::string root_;
};

TEST_F(OwnedFolderTest, OfAKilledProcessIsRemovedAndOfALivingOneIsLeft) {
  const std::string dead = LeaveBehind();
  std::optional<OwnedFolder> living = OwnedFolder::Create(root_, "vramscope-").value();
  const std::string path = living->path();
  ASSERT_TRUE(fs::exists(dead + "/file"));
  RemoveAbandonedFolders(root_, "vramscope-");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_TRUE(fs::exists(path));
  living.reset();
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(OwnedFolderTest, WhatAUserMadeStaysWhateverItsName) {
  const std::string dead = LeaveBehind();
  const std::string marker = Marker(dead);
  fs::create_directory(root_ + "/vramscope-mydata");
  Write(root_ + "/vramscope-mydata/dataset.bin", "precious");
  Write(root_ + "/vramscope-file", "precious");
  fs::create_directory_symlink(root_ + "/vramscope-mydata", root_ + "/vramscope-link");
  fs::create_directory(root_ + "/vramscope-forged");
  Write(root_ + "/vramscope-forged/.vramscope-owner", marker);
  fs::create_directory(root_ + "/vramscope-broken");
  Write(root_ + "/vramscope-broken/.vramscope-owner", "vramscope folder 1\npid 99999999");
  fs::create_directory(root_ + "/vramscope-odd");
  fs::create_directory(root_ + "/vramscope-odd/.vramscope-owner");
  fs::copy(dead, root_ + "/vramscope-copied", fs::copy_options::recursive);
  fs::rename(dead, root_ + "/vramscope-renamed");
  RemoveAbandonedFolders(root_, "vramscope-");
  EXPECT_EQ(std::distance(fs::directory_iterator(root_), fs::directory_iterator()), 8);
  EXPECT_TRUE(fs::exists(root_ + "/vramscope-mydata/dataset.bin"));
  EXPECT_TRUE(fs::exists(root_ + "/vramscope-renamed/file"));
}

TEST_F(OwnedFolderTest, OfAnotherPidNamespaceOrBootIsLeft) {
  const std::string dead = LeaveBehind();
  const std::string marker = Marker(dead);
  for (const char* word : {"namespace ", "boot "}) {
    std::string other = marker;
    const size_t at = other.find(word) + std::string(word).size();
    other[at] = other[at] == '1' ? '2' : '1';
    Write(dead + "/.vramscope-owner", other);
    RemoveAbandonedFolders(root_, "vramscope-");
    EXPECT_TRUE(fs::exists(dead)) << other;
  }
  Write(dead + "/.vramscope-owner", marker);
  RemoveAbandonedFolders(root_, "vramscope-");
  EXPECT_FALSE(fs::exists(dead));
}

}  // namespace
}  // namespace vramscope::collector
