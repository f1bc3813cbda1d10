// SPDX-License-Identifier: Apache-2.0
// Oracle: folders with the layout of `cmake --install` and of the build tree.
#include "profiler/collector/launch/installation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "profiler/collector/launch/command.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class InstallationTest : public ::testing::Test {
 protected:
  InstallationTest() {
    std::string pattern = ::testing::TempDir() + "installation_XXXXXX";
    root_ = mkdtemp(pattern.data());
    fs::create_directories(root_ + "/bin");
  }
  ~InstallationTest() override { fs::remove_all(root_); }

  void Put(const std::string& path) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << "part";
  }

  std::string root_;
};

TEST_F(InstallationTest, PartsOfAnInstalledProgramLieBesideIt) {
  Put("/lib/vramscope/libvramscope_injector.so");
  Put("/share/vramscope/python/sitecustomize.py");
  const auto parts = FindInstallationFor(root_ + "/bin");
  ASSERT_TRUE(parts.ok());
  EXPECT_EQ(parts->injector, root_ + "/lib/vramscope/libvramscope_injector.so");
  EXPECT_EQ(parts->python_shim, root_ + "/share/vramscope/python");
}

TEST_F(InstallationTest, TheBuildTreeIsUnderstoodToo) {
  Put("/injector/libvramscope_injector.so");
  Put("/share/vramscope/python/sitecustomize.py");
  EXPECT_TRUE(FindInstallationFor(root_ + "/bin").ok());
}

TEST_F(InstallationTest, AMissingPartIsNamedWithThePlacesThatWereLookedAt) {
  const auto nothing = FindInstallationFor(root_ + "/bin");
  ASSERT_FALSE(nothing.ok());
  EXPECT_THAT(nothing.error().sentence, HasSubstr(root_ + "/lib/vramscope/libvramscope_injector.so"));
  Put("/lib/vramscope/libvramscope_injector.so");
  EXPECT_THAT(FindInstallationFor(root_ + "/bin").error().sentence, HasSubstr("PYTHONPATH"));
}

TEST_F(InstallationTest, AFolderThatCannotBeListedIsASentence) {
  const std::string odd = root_ + "/my programs";
  fs::create_directories(odd + "/bin");
  fs::create_directories(odd + "/lib/vramscope");
  std::ofstream(odd + "/lib/vramscope/libvramscope_injector.so") << "part";
  const auto parts = FindInstallationFor(odd + "/bin");
  ASSERT_FALSE(parts.ok());
  EXPECT_THAT(parts.error().sentence, HasSubstr("Install vramscope elsewhere"));
}

TEST(PrependToPathVariableTest, WhatWasThereStaysBehindAndNothingIsThereTwice) {
  setenv("A_LIST", "/theirs", 1);
  EXPECT_EQ(PrependToPathVariable("A_LIST", "/ours"), "/ours:/theirs");
  setenv("A_LIST", "/ours:/theirs", 1);
  EXPECT_EQ(PrependToPathVariable("A_LIST", "/ours"), "/ours:/theirs");
  setenv("A_LIST", "", 1);
  EXPECT_EQ(PrependToPathVariable("A_LIST", "/ours"), "/ours");
  unsetenv("A_LIST");
  EXPECT_EQ(PrependToPathVariable("A_LIST", "/ours"), "/ours");
}

}  // namespace
}  // namespace vramscope::collector
