// SPDX-License-Identifier: Apache-2.0
#include "profiler/cli/device_ledger.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace vramscope::cli {
namespace {

class DeviceLedgerTest : public testing::Test {
 protected:
  DeviceLedgerTest() { std::filesystem::create_directories(folder_); }
  ~DeviceLedgerTest() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  const std::string folder_ = testing::TempDir() + "device_ledger_test";
};

TEST_F(DeviceLedgerTest, TakesTheFullestDeviceOfAllProcesses) {
  Write(
      "1.json",
      R"({"devices": [{"capacity_bytes": 100, "peak_bytes": 40, "rows": []}, {"capacity_bytes": 100, "peak_bytes": 70,
      "missing_bytes": 5, "rows": [{"library": "libc10_cuda.so", "call": "cudaMalloc", "peak_bytes": 60}]}]})");
  Write("2.json", R"({"devices": [{"capacity_bytes": 100, "peak_bytes": 50}]})");
  const DeviceLedger ledger = FullestDevice(folder_);
  EXPECT_EQ(ledger.peak_bytes, 70u);
  EXPECT_EQ(ledger.missing_bytes, 5u);
  ASSERT_EQ(ledger.entries.size(), 1u);
  EXPECT_EQ(ledger.entries[0].call, "cudaMalloc");
}

TEST_F(DeviceLedgerTest, FilesThatAreCutOffOrForeignCountAsAbsent) {
  Write("1.json", R"({"devices": [{"capacity_by)");
  Write("2.json", "[1, 2]");
  Write("3.json", R"({"devices": [3, {"peak_bytes": "many"}]})");
  EXPECT_EQ(FullestDevice(folder_).peak_bytes, 0u);
  EXPECT_EQ(FullestDevice(folder_ + "/nowhere").capacity_bytes, 0u);
}

}  // namespace
}  // namespace vramscope::cli
