// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/answer_cache.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

class AnswerCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vramscope-answers-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    std::ofstream(Witness()) << "one";
    KeepAnswer(folder_.string(), "why", "because", {Witness(), Absent()});
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] std::string Witness() const { return (folder_ / "wit ness").string(); }
  [[nodiscard]] std::string Absent() const { return (folder_ / "absent").string(); }
  [[nodiscard]] std::optional<std::string> Recall() const { return RecallAnswer(folder_.string(), "why"); }
  [[nodiscard]] fs::path AnswerFile() const {
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".answer") return entry.path();
    }
    return {};
  }

  fs::path folder_;
};

TEST_F(AnswerCacheTest, AnAnswerHoldsWhileItsWitnessesStayAsTheyAre) {
  EXPECT_EQ(Recall(), "because");
  EXPECT_EQ(RecallAnswer(folder_.string(), "why not"), std::nullopt);
  EXPECT_EQ(RecallAnswer("", "why"), std::nullopt);
}

TEST_F(AnswerCacheTest, AWitnessThatChangesEndsIt) {
  std::ofstream(Witness()) << "another";
  EXPECT_EQ(Recall(), std::nullopt);
}

TEST_F(AnswerCacheTest, AWitnessThatComesEndsIt) {
  std::ofstream(Absent()) << "";
  EXPECT_EQ(Recall(), std::nullopt);
}

TEST_F(AnswerCacheTest, AWitnessThatGoesEndsIt) {
  fs::remove(Witness());
  EXPECT_EQ(Recall(), std::nullopt);
}

TEST_F(AnswerCacheTest, AFileCutAnywhereIsNoAnswerOrTheSame) {
  const std::string whole = ReadWhole(AnswerFile().string());
  for (size_t length = 0; length < whole.size(); ++length) {
    std::ofstream(AnswerFile(), std::ios::trunc) << whole.substr(0, length);
    const auto answer = Recall();
    EXPECT_TRUE(!answer || *answer == "because") << length;
  }
}

}  // namespace
}  // namespace vramscope::collector
