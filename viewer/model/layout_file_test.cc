// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/layout_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::viewer {
namespace {

class LayoutFileTest : public testing::Test {
 protected:
  LayoutFileTest() {
    std::string name = testing::TempDir() + "/layout.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~LayoutFileTest() override { std::filesystem::remove_all(folder_); }
  std::string folder_;
};

TEST_F(LayoutFileTest, WhatIsWrittenComesBack) {
  const WindowLayout layout = {false, 1.25f, 0.5f, 31.25f};
  WriteLayout(folder_ + "/new/layout", layout);
  EXPECT_EQ(ReadLayout(folder_ + "/new/layout"), layout);
}

TEST_F(LayoutFileTest, LinesThatMakeNoSenseAreLeftOut) {
  const std::string path = folder_ + "/layout";
  std::ofstream(path)
      << "theme=purple\ntext_size=nan\ntable_share=0.5\ndetails_width=-3\nno sign\nfuture=1\n";
  WindowLayout expected;
  expected.table_share = 0.5f;
  EXPECT_EQ(ReadLayout(path), expected);
  EXPECT_EQ(ReadLayout(folder_ + "/absent"), WindowLayout{});
}

TEST_F(LayoutFileTest, APlaceThatCannotBeWrittenIsNoTrouble) {
  WriteLayout("", {});
  WriteLayout("/proc/no/layout", {});
  EXPECT_EQ(ReadLayout("/proc/no/layout"), WindowLayout{});
}

}  // namespace
}  // namespace vramscope::viewer
