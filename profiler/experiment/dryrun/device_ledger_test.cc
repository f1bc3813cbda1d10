// SPDX-License-Identifier: Apache-2.0
#include "profiler/experiment/dryrun/device_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "trace_format/device_use.h"

namespace vramscope::experiment {
namespace {

class DeviceLedgerTest : public testing::Test {
 protected:
  DeviceLedgerTest() { std::filesystem::create_directories(folder_); }
  ~DeviceLedgerTest() override { std::filesystem::remove_all(folder_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  [[nodiscard]] std::vector<DeviceLedger> Read() const {
    return ReadDeviceLedgers(folder_, folder_ + "/devices", 100);
  }
  // Writes the table as the processes of a run leave it.
  void WriteTable(int device, uint64_t peak, std::vector<trace::PeakShare> shares) const {
    const auto table = std::make_unique<trace::DeviceUseTable>();
    trace::DeviceUse& use = table->devices[device];
    use.peak_bytes = peak;
    use.share_count = static_cast<uint32_t>(shares.size());
    std::ranges::copy(shares, use.shares);
    std::ofstream(folder_ + "/devices", std::ios::binary)
        .write(reinterpret_cast<const char*>(table.get()), sizeof(*table));
  }

  const std::string folder_ = testing::TempDir() + "device_ledger_test";
};

TEST_F(DeviceLedgerTest, TakesTheFullestDeviceOfAllProcesses) {
  Write(
      "1.json",
      R"({"devices": [{"capacity_bytes": 100, "peak_bytes": 40, "rows": []}, {"device": 1, "capacity_bytes": 100, "peak_bytes": 70,
      "missing_bytes": 5, "refused_call": "ring", "refused_basis": "modeled", "rows": [{"library": "libc10_cuda.so", "call": "cudaMalloc", "peak_bytes": 60},
      {"library": "", "call": "context", "peak_bytes": 1000, "basis": "derived", "low_percent": 90, "high_percent": 110}]}]})");
  Write(
      "2.json",
      R"({"devices": [{"capacity_bytes": 100, "peak_bytes": 50, "missing_bytes": 1, "refused_call": "cudaMalloc", "refused_basis": "exact"}]})");
  const DeviceLedger ledger = Fullest(Read());
  EXPECT_EQ(ledger.peak_bytes, 70u);
  EXPECT_EQ(ledger.missing_bytes, 5u);
  ASSERT_EQ(ledger.entries.size(), 2u);
  EXPECT_EQ(ledger.entries[0].call, "cudaMalloc");
  EXPECT_EQ(ledger.refused_beside, "ring") << "PyTorch's own refusals are in its recording";
  EXPECT_EQ(ledger.entries[0].basis, "exact");
  EXPECT_EQ(ledger.entries[1].basis, "derived");
  EXPECT_EQ(ledger.entries[1].low_bytes, 900u);
  EXPECT_EQ(ledger.entries[1].high_bytes, 1100u);
}

TEST_F(DeviceLedgerTest, ProcessesOfOneDeviceHaveWhatTheyHadTogetherAtOneTime) {
  for (const char* name : {"7.json", "8.json"}) {
    Write(name, R"({"devices": [{"device": 0, "capacity_bytes": 100, "peak_bytes": 50,
        "rows": [{"library": "libc10_cuda.so", "call": "cudaMalloc", "peak_bytes": 45}]}]})");
  }
  WriteTable(0, 80, {{{7, 1}, 50}, {{8, 1}, 30}});
  const DeviceLedger ledger = Fullest(Read());
  EXPECT_EQ(ledger.peak_bytes, 80u) << "their peaks were not at one time, and neither is the other's";
  ASSERT_EQ(ledger.processes.size(), 2u);
  EXPECT_EQ(ledger.processes[1].bytes, 30u);
  ASSERT_EQ(ledger.entries.size(), 1u);
  EXPECT_EQ(ledger.entries[0].peak_bytes, 90u);
}

TEST_F(DeviceLedgerTest, ProcessesThatWereKilledAreInTheTableAlone) {
  WriteTable(3, 60, {{{7, 1}, 60}});
  const DeviceLedger ledger = Fullest(Read());
  EXPECT_EQ(ledger.device, 3);
  EXPECT_EQ(ledger.peak_bytes, 60u);
  EXPECT_EQ(ledger.capacity_bytes, 100u);
}

TEST_F(DeviceLedgerTest, FilesThatAreCutOffOrForeignCountAsAbsent) {
  Write("1.json", R"({"devices": [{"capacity_by)");
  Write("2.json", "[1, 2]");
  Write("3.json", R"({"devices": [3, {"peak_bytes": "many"}]})");
  Write("devices", "too short");
  EXPECT_EQ(Fullest(Read()).peak_bytes, 0u);
  EXPECT_EQ(Fullest(ReadDeviceLedgers(folder_ + "/nowhere", folder_ + "/nothing", 100)).capacity_bytes, 0u);
}

}  // namespace
}  // namespace vramscope::experiment
