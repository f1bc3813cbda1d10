// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/source_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace vramscope::viewer {
namespace {

class SourceLinesTest : public testing::Test {
 protected:
  SourceLinesTest() {
    std::string name = testing::TempDir() + "/viewer.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~SourceLinesTest() override { std::filesystem::remove_all(folder_); }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  std::string folder_;
};

TEST_F(SourceLinesTest, TheLineIsReadWithThoseAroundIt) {
  const std::string path = Write("a.py", "one\ntwo\nthree\nfour\nfive");
  const auto middle = ReadSource({"", path, 3}, 1);
  ASSERT_TRUE(middle.ok());
  EXPECT_EQ(middle->first, 2u);
  EXPECT_EQ(middle->lines, (std::vector<std::string>{"two", "three", "four"}));
  const auto edge = ReadSource({"", path, 5}, 2);
  ASSERT_TRUE(edge.ok());
  EXPECT_EQ(edge->lines.back(), "five");
  EXPECT_EQ(ReadSource({"", path, 1}, 3)->first, 1u);
}

TEST_F(SourceLinesTest, AnEditorGetsTheLineAsALink) {
  EXPECT_EQ(EditorLink({"forward", "/src/my model.py", 32}), "vscode://file/src/my%20model.py:32");
  EXPECT_EQ(EditorLink({"", "/a\"?#.py", 1}), "vscode://file/a%22%3f%23.py:1");
}

TEST_F(SourceLinesTest, WhatIsNotThereIsSaid) {
  EXPECT_NE(ReadSource({"", folder_ + "/gone.py", 3}, 1).error().sentence.find("not on this machine"),
            std::string::npos);
  EXPECT_NE(
      ReadSource({"", Write("short.py", "one\ntwo\n"), 7}, 1).error().sentence.find("has 2 lines today"),
      std::string::npos);
  EXPECT_NE(ReadSource({"", folder_, 1}, 1).error().sentence.find("not a file"), std::string::npos);
  EXPECT_NE(ReadSource({"", "/dev/zero", 1}, 1).error().sentence.find("not a file"), std::string::npos);
  const std::string large = Write("large.py", std::string(2 << 20, '\n'));
  EXPECT_NE(ReadSource({"", large, 1'500'000}, 1).error().sentence.find("first MiB"), std::string::npos);
  EXPECT_TRUE(ReadSource({"", large, 1'000'000}, 1).ok());
}

TEST_F(SourceLinesTest, WhatTheTraceHasGoesBeforeAFileThatHasChanged) {
  const std::string path = Write("model.py", "one\ntwo\n");
  const auto same = ReadSource({"", path, 2}, 1, "one\ntwo\n");
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->from, "From disk, as it was recorded.");
  const auto changed = ReadSource({"", path, 2}, 0, "zero\nthen\n");
  ASSERT_TRUE(changed.ok());
  EXPECT_EQ(changed->lines, (std::vector<std::string>{"then"}));
  EXPECT_NE(changed->from.find("From the trace: the file has changed"), std::string::npos);
  const auto gone = ReadSource({"", folder_ + "/gone.py", 1}, 0, "only\n");
  ASSERT_TRUE(gone.ok());
  EXPECT_EQ(gone->lines, (std::vector<std::string>{"only"}));
  EXPECT_NE(gone->from.find("From the trace"), std::string::npos);
  EXPECT_NE(gone->from.find("not on this machine"), std::string::npos);
  EXPECT_EQ(ReadSource({"", path, 1}, 0)->from, "From disk, current version.");
  EXPECT_NE(ReadSource({"", path, 9}, 0, "one\n").error().sentence.find("has 1 line in the trace"),
            std::string::npos);
}

}  // namespace
}  // namespace vramscope::viewer
