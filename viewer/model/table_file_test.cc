// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/table_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace vramscope::viewer {
namespace {

std::string ContentOf(const std::string& path) {
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  return content.str();
}

TEST(TableFileTest, EachFileLiesBesideItsTraceAndNoneIsWrittenOver) {
  const std::string folder = testing::TempDir() + "table.file_test/";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  const auto first = SaveBeside(folder + "run.v1.vms", 12, "a\n");
  ASSERT_TRUE(first.ok()) << first.error().sentence;
  EXPECT_EQ(*first, folder + "run.v1.live-12.csv");
  EXPECT_EQ(SaveBeside(folder + "run.v1.vms", 12, "b\n").value(), folder + "run.v1.live-12-2.csv");
  EXPECT_EQ(SaveBeside(folder + "bare", 12, "c\n").value(), folder + "bare.live-12.csv");
  EXPECT_EQ(ContentOf(*first), "a\n");
  EXPECT_EQ(ContentOf(folder + "run.v1.live-12-2.csv"), "b\n");
  std::filesystem::remove_all(folder);
}

TEST(TableFileTest, WhereNothingCanBeWrittenOneSentenceSaysSo) {
  const auto saved = SaveBeside("/nowhere/at/all/run.vms", 3, "a\n");
  ASSERT_FALSE(saved.ok());
  EXPECT_NE(saved.error().sentence.find("/nowhere/at/all/run.live-3.csv"), std::string::npos)
      << saved.error().sentence;
}

}  // namespace
}  // namespace vramscope::viewer
