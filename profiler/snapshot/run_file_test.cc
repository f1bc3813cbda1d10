// SPDX-License-Identifier: Apache-2.0
#include "profiler/snapshot/run_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/model/testing/training_loop.h"

namespace vramscope::snapshot {
namespace {

using ::testing::HasSubstr;

class RunFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string place = (std::filesystem::temp_directory_path() / "run-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(place.data()), nullptr);
    folder_ = place;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }

  std::filesystem::path folder_;
};

TEST_F(RunFileTest, ReadsASnapshotOnce) {
  const std::string path = Write("run.json", R"({"segments": [], "device_traces": [[]]})");
  const RunFile file(path);
  ASSERT_TRUE(file.is_snapshot());
  const auto first = file.ReadSnapshot();
  ASSERT_TRUE(first.ok()) << first.error().sentence;
  std::filesystem::remove(path);
  EXPECT_EQ(*file.ReadSnapshot(), *first);
  EXPECT_TRUE(file.OpenSource().ok());
  EXPECT_THAT(file.OpenTrace().error().sentence, ::testing::HasSubstr("needs a vramscope trace"));
}

TEST_F(RunFileTest, TheEndingOfATraceDoesNotMatter) {
  const std::string path = (folder_ / "run.pickle").string();
  ASSERT_TRUE(model::testing::WriteTrainingFile({.events = 2'000}, path).ok());
  const RunFile file(path);
  EXPECT_FALSE(file.is_snapshot());
  EXPECT_TRUE(file.OpenTrace().ok());
  EXPECT_TRUE(file.OpenSource().ok());
}

TEST_F(RunFileTest, TheErrorOfAnotherFileNamesIt) {
  for (const std::string& path : {Write("notes.txt", "Not a run."), (folder_ / "missing.vms").string()}) {
    const auto opened = RunFile(path).OpenSource();
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().sentence, HasSubstr(path));
  }
}

}  // namespace
}  // namespace vramscope::snapshot
