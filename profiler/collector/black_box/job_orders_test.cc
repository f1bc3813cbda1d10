// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/black_box/job_orders.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

namespace vramscope::collector {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;

class JobOrdersTest : public ::testing::Test {
 protected:
  JobOrdersTest() {
    char folder[] = "/tmp/vramscope-orders-XXXXXX";
    folder_ = mkdtemp(folder);
  }
  ~JobOrdersTest() override { std::filesystem::remove_all(folder_); }
  void Append(const std::string& text) {
    std::ofstream(folder_ + "/.vramscope-orders", std::ios::app | std::ios::binary) << text;
  }
  std::string folder_;
};

TEST_F(JobOrdersTest, EachRecorderGetsOrdersOfOthersOnce) {
  Append("dump elsewhere-1-1 0 before this recorder came\n");
  JobOrders orders(folder_ + "/3.vms");
  EXPECT_TRUE(orders.TakeNew(kSecond).empty());
  ASSERT_TRUE(orders.Send(0, "out of memory").ok());  // its own
  Append("dump other-9-1 7 by hand\nnonsense\ndump x\ndump half");
  const auto first = orders.TakeNew(2 * kSecond);
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].step, 7u);
  EXPECT_EQ(first[0].why, "by hand");
  Append("-8-1 0 finished\n");
  EXPECT_TRUE(orders.TakeNew(2 * kSecond + 1).empty()) << "it looks every half second";
  ASSERT_EQ(orders.TakeNew(3 * kSecond).size(), 1u);
  EXPECT_TRUE(orders.TakeNew(4 * kSecond).empty());
}

}  // namespace
}  // namespace vramscope::collector
