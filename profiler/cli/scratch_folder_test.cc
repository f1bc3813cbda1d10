// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/scratch_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::cli {
namespace {

namespace fs = std::filesystem;

TEST(ScratchFolderTest, IsGoneWithItsOwnerAndLeavesTheUsersOwn) {
  const std::string place = testing::TempDir() + "scratch_folder_test";
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

}  // namespace
}  // namespace vramscope::cli
