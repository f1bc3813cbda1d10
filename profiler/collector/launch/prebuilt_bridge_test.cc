// SPDX-License-Identifier: Apache-2.0
// Oracle: a folder with an index as scripts/wheel/bridges.py writes it, and a torch that is only files.
#include "profiler/collector/launch/prebuilt_bridge.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "profiler/collector/launch/torch_headers.h"

namespace vramscope::collector {
namespace {

namespace fs = std::filesystem;

// sha256sum of the eight layout headers, each of which is "x".
constexpr char kLayout[] = "4cf0c1012276f46af31e44d2fbb03ae7af56f03c9996eb9452b99b3e6273698e";
constexpr char kNewAbi[] = "_ZN3c105ErrorC1ENS_14SourceLocationENSt7__cxx11";

class PrebuiltBridgeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "vramscope-prebuilt-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    for (const char* header : kLayoutHeaders) Write("torch/include/" + std::string(header), "x");
    Write("torch/lib/libc10.so", "old");
    for (const char* library : {"old.so", "new.so", "other.so"}) Write("bridges/" + std::string(library), "");
    Write("bridges/index.txt", "2.5.1 old " + std::string(kLayout) + " other.so\n2.6.0 old " + kLayout +
                                   " old.so\n2.6.0 new " + kLayout + " new.so\n");
  }
  void TearDown() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name) << text;
  }
  // The name of the library that is chosen for a torch of this version; "" for none.
  std::string Chosen(const std::string& version) {
    const TorchLocation torch{(folder_ / "torch").string(), version, ""};
    const auto found = FindPrebuiltBridge(torch, (folder_ / "bridges").string());
    return found ? fs::path(*found).filename().string() : "";
  }

  fs::path folder_;
};

TEST_F(PrebuiltBridgeTest, IsTheOneOfTheReleaseAndItsStringAbi) {
  EXPECT_EQ(Chosen("2.6.0+cu124"), "old.so");
  EXPECT_EQ(Chosen("2.5.1"), "other.so");
  EXPECT_EQ(Chosen("2.6.1"), "");
  EXPECT_EQ(Chosen("2.6.0a0+git1234"), "");
  Write("torch/lib/libc10.so", kNewAbi);
  EXPECT_EQ(Chosen("2.6.0+cpu"), "new.so");
  EXPECT_EQ(Chosen("2.5.1"), "");
}

TEST_F(PrebuiltBridgeTest, IsNotUsedWithOtherHeaders) {
  Write("torch/include/c10/core/TensorImpl.h", "another layout");
  EXPECT_EQ(Chosen("2.6.0"), "");
}

TEST_F(PrebuiltBridgeTest, WithoutHeadersOnlyVersionsOfPublishedWheelsHaveOne) {
  fs::remove_all(folder_ / "torch/include");
  EXPECT_EQ(Chosen("2.6.0+cu124"), "old.so");
  EXPECT_EQ(Chosen("2.6.0+cpu"), "old.so");
  EXPECT_EQ(Chosen("2.6.0"), "old.so");
  EXPECT_EQ(Chosen("2.6.0+patched"), "");
  EXPECT_EQ(Chosen("2.6.0+cu124-patched"), "");
}

TEST_F(PrebuiltBridgeTest, IsNotUsedWhenItsFileIsMissing) {
  fs::remove(folder_ / "bridges/old.so");
  EXPECT_EQ(Chosen("2.6.0"), "");
  fs::remove_all(folder_ / "bridges");
  EXPECT_EQ(Chosen("2.6.0"), "");
}

}  // namespace
}  // namespace vramscope::collector
