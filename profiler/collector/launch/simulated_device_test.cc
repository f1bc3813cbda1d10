// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/launch/simulated_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

using ::testing::HasSubstr;

// The parts of a torch that are checked.
class SimulatedDeviceTest : public ::testing::Test {
 protected:
  SimulatedDeviceTest() { std::filesystem::create_directories(root_ + "/lib"); }
  ~SimulatedDeviceTest() override { std::filesystem::remove_all(root_); }
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(root_ + "/" + name) << text;
  }

  const std::string root_ = ::testing::TempDir() + "simulated_device_test";
};

TEST_F(SimulatedDeviceTest, ReadsTheCudaReleaseFromTheWheel) {
  Write("lib/libtorch_cuda.so", "");
  Write("version.py",
        "__version__ = '2.15.0+cu132'\ncuda: Optional[str] = '13.2'\nhip: Optional[str] = None\n");
  EXPECT_EQ(*CudaMajorOf(root_), 13);
  Write("version.py", "__version__ = '2.6.0+cu124'\ncuda = '12.4'\n");
  EXPECT_EQ(*CudaMajorOf(root_), 12);
}

TEST_F(SimulatedDeviceTest, ReadsItFromALibTorchArchive) {
  Write("lib/libtorch_cuda.so", "");
  Write("build-version", "2.9.0+cu128\n");
  EXPECT_EQ(*CudaMajorOf(root_), 12);
}

TEST_F(SimulatedDeviceTest, SaysWhatIsWrongWithOtherTorches) {
  EXPECT_THAT(CudaMajorOf(root_).error().sentence, HasSubstr("no CUDA code"));
  Write("lib/libtorch_cuda.so", "");
  EXPECT_THAT(CudaMajorOf(root_).error().sentence, HasSubstr("does not state which CUDA"));
  Write("version.py", "cuda = '11.8'\n");
  EXPECT_THAT(CudaMajorOf(root_).error().sentence, HasSubstr("built for CUDA 11"));
  Write("lib/libtorch_hip.so", "");
  EXPECT_THAT(CudaMajorOf(root_).error().sentence, HasSubstr("ROCm"));
}

TEST_F(SimulatedDeviceTest, ListsTheModelsOfTheTable) {
  const auto models = ListGpus(VRAMSCOPE_SOURCE_DIR "/injector/simulated_cuda");
  ASSERT_TRUE(models.ok());
  ASSERT_EQ(models->size(), 84u);
  const auto known = std::ranges::find(*models, "rtx-3060", &GpuModel::name);
  ASSERT_NE(known, models->end());
  EXPECT_EQ(known->capacity_bytes, uint64_t{12042} << 20);
  EXPECT_THAT(ListGpus(root_).error().sentence, HasSubstr("lists no GPU"));
}

}  // namespace
}  // namespace vramscope::collector
