// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

#include "injector/core/api.h"
#include "injector/core/test_session.h"

namespace vramscope::injector {
namespace {

class ProgramFileTest : public ::testing::Test {
 protected:
  ProgramFileTest() : collector_(FreshCollector()) { RecordCounter(1); }
  [[nodiscard]] std::string Path() const {
    return collector_.folder() + "/" + std::to_string(getpid()) + ".0.program";
  }
  TestCollector& collector_;
};

TEST_F(ProgramFileTest, LiesBesideTheRingsWithItsStepAndTheLastOneWins) {
  ASSERT_EQ(vramscope_program("{\"a\": 1}", 8, 5), 1);
  ASSERT_EQ(vramscope_program("{}", 2, 6), 1);
  std::ifstream file(Path(), std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  uint64_t step = 0;
  ASSERT_EQ(bytes.size(), sizeof step + 2);
  memcpy(&step, bytes.data(), sizeof step);
  EXPECT_EQ(step, 6u);
  EXPECT_EQ(bytes.substr(sizeof step), "{}");
  struct stat facts;
  ASSERT_EQ(stat(Path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600u);
  EXPECT_NE(stat((Path() + ".new").c_str(), &facts), 0);
}

TEST_F(ProgramFileTest, OneThatIsTooLargeLeavesTheOneBefore) {
  ASSERT_EQ(vramscope_program("{}", 2, 6), 1);
  const std::string large(trace::kMostProgramBytes + 1, ' ');
  EXPECT_EQ(vramscope_program(large.data(), large.size(), 7), 0);
  struct stat facts;
  ASSERT_EQ(stat(Path().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_size, 10);
}

}  // namespace
}  // namespace vramscope::injector
