// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/recent_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::viewer {
namespace {

class RecentFilesTest : public testing::Test {
 protected:
  RecentFilesTest() {
    std::string name = testing::TempDir() + "recent.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~RecentFilesTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(RecentFilesTest, TheNewestTenThatStillExistAreListed) {
  const std::string list = folder_ + "/deep/er/recent";
  EXPECT_TRUE(RecentFiles(list).empty());
  std::vector<std::string> paths;
  for (int i = 0; i < 12; ++i) RememberFile(list, paths.emplace_back(Write(std::to_string(i) + ".vms", "")));
  RememberFile(list, paths[5]);
  std::filesystem::remove(paths[11]);
  const std::vector<std::string> recent = RecentFiles(list);
  ASSERT_EQ(recent.size(), kMostRecentFiles - 1);
  EXPECT_EQ(recent[0], paths[5]);
  EXPECT_EQ(recent[1], paths[10]);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/deep/er"), {}), 1) << "leftovers";
}

TEST_F(RecentFilesTest, WhatCannotBeRememberedIsNot) {
  RememberFile("", "/a.vms");
  RememberFile("/proc/nowhere/recent", "/a.vms");
  RememberFile(folder_ + "/recent", "/a\nb.vms");
  EXPECT_TRUE(RecentFiles(folder_ + "/recent").empty());
  const std::string strange = Write("strange", "relative.vms\n\n/gone.vms\n" + std::string(9000, '/') + "\n");
  EXPECT_TRUE(RecentFiles(strange).empty());
}

}  // namespace
}  // namespace vramscope::viewer
