// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/device/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace vramscope::simulated {
namespace {

using testing::ElementsAre;

Settings For(const char* gpu, const char* capacity = nullptr) {
  return MakeSettings(gpu, capacity, nullptr, nullptr, nullptr, nullptr);
}

TEST(SettingsTest, ReadsSizesInBinaryUnits) {
  EXPECT_EQ(ParseBytes("4096"), 4096u);
  EXPECT_EQ(ParseBytes("24GiB"), uint64_t{24} << 30);
  EXPECT_EQ(ParseBytes("512M"), uint64_t{512} << 20);
  EXPECT_EQ(ParseBytes("8KiB"), uint64_t{8} << 10);
  EXPECT_EQ(ParseBytes("2B"), 2u);
  EXPECT_EQ(ParseBytes("8GB"), 8'000'000'000u) << "decimal, as on the command line";
  EXPECT_EQ(ParseBytes("8Gb"), 0u);
  EXPECT_EQ(ParseBytes("24 GiB"), 0u);
  EXPECT_EQ(ParseBytes("GiB"), 0u);
}

TEST(SettingsTest, TakesTheModelsOwnCapacityUnlessAnotherIsAskedFor) {
  EXPECT_EQ(For("t4").capacity, uint64_t{15095} << 20);
  EXPECT_EQ(For("t4", "1GiB").capacity, uint64_t{1} << 30);
  EXPECT_EQ(For("t4", "much").capacity, uint64_t{15095} << 20);
}

TEST(SettingsTest, CountsDevices) {
  EXPECT_EQ(For("a100-40gb").devices, 1);
  EXPECT_EQ(For("a100-40gb:4").devices, 4);
  EXPECT_STREQ(For("a100-40gb:4").gpu->name, "a100-40gb");
}

std::vector<int> Visible(const char* text) {
  Settings settings = For("a100-40gb:4");
  ChooseVisible(text, settings);
  return {settings.physical, settings.physical + settings.devices};
}

TEST(SettingsTest, SeesTheDevicesThatCudaVisibleDevicesNames) {
  char uuid[64];
  PutUuidText(3, uuid, sizeof(uuid));
  EXPECT_THAT(Visible(nullptr), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(Visible("2,0"), ElementsAre(2, 0));
  EXPECT_THAT(Visible(uuid), ElementsAre(3));
  EXPECT_THAT(Visible("1,9,2"), ElementsAre(1)) << "up to the first that is not there";
  EXPECT_THAT(Visible("-1"), ElementsAre());
  EXPECT_THAT(Visible(""), ElementsAre());
  EXPECT_THAT(Visible("1,1"), ElementsAre());
}

TEST(SettingsTest, AnUnknownModelIsAMachineWithoutDevices) {
  EXPECT_EQ(For("h100").devices, 0);
  EXPECT_EQ(For("t4:0").devices, 0);
  EXPECT_EQ(For("t4:99").devices, 0);
}

}  // namespace
}  // namespace vramscope::simulated
