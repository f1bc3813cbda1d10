// SPDX-License-Identifier: Apache-2.0
#include "profiler/collector/target/process_facts.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/collector/output/whole_file.h"

namespace vramscope::collector {
namespace {

TEST(ProcessFactsTest, AFileThatFailsWhileItIsReadIsEmpty) {
  // Opens, but nothing is mapped at address 0: read() fails, as it does for a process that has just died.
  EXPECT_EQ(ReadWhole("/proc/self/mem"), "");
  EXPECT_EQ(ReadWhole("/no/such/file"), "");
  EXPECT_EQ(ReadWhole("/proc/self"), "") << "a folder";
}

TEST(ProcessFactsTest, ThisProcessHasACommandLine) {
  EXPECT_NE(CommandLineOf(static_cast<uint32_t>(getpid())).find("collector_test"), std::string::npos);
}

}  // namespace
}  // namespace vramscope::collector
