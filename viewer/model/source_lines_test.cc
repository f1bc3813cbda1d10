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

TEST_F(SourceLinesTest, FramesOfAllKindsNameTheirPlace) {
  const auto place = [](const char* frame) {
    const auto found = SourcePlaceOf(frame);
    return found ? found->path + "|" + std::to_string(found->line) + "|" + found->function : "none";
  };
  EXPECT_EQ(place("forward (/src/model.py:7)"), "/src/model.py|7|forward");
  EXPECT_EQ(place("/src/model.py:7 forward"), "/src/model.py|7|forward");
  EXPECT_EQ(place("train.py:42"), "train.py|42|");
  EXPECT_EQ(place("at::native::mm(at::Tensor) (/b/mm.cpp:9)"), "/b/mm.cpp|9|at::native::mm(at::Tensor)");
  EXPECT_EQ(place("torch::autograd::Engine::execute"), "none");
  EXPECT_EQ(place("f (/src/model.py:0)"), "none");
  EXPECT_EQ(place("f (/src/model.py:99999999999)"), "none");
  EXPECT_EQ(place(""), "none");
}

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

}  // namespace
}  // namespace vramscope::viewer
