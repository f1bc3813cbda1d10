// SPDX-License-Identifier: Apache-2.0
// Cases that the kernel of the test machine may not be set to. Real processes are tested in
// tests/attach/refusal_test.py.
#include "injector/attach/refusal.h"

#include <gtest/gtest.h>

namespace vramscope::attach {
namespace {

// The levels as the kernel's Yama.rst describes them.
TEST(RefusalTest, YamaForbidsWhatItsDocumentationSays) {
  for (const bool administrator : {false, true}) {
    EXPECT_EQ(ForbiddenByPtraceScope("", administrator), "") << "a kernel without Yama";
    EXPECT_EQ(ForbiddenByPtraceScope("0\n", administrator), "");
    EXPECT_NE(ForbiddenByPtraceScope("3\n", administrator).find("until it is started again"),
              std::string::npos);
  }
  EXPECT_EQ(ForbiddenByPtraceScope("1\n", true), "");
  EXPECT_EQ(ForbiddenByPtraceScope("2\n", true), "");
  EXPECT_NE(ForbiddenByPtraceScope("1\n", false).find("only parents do that"), std::string::npos);
  EXPECT_NE(ForbiddenByPtraceScope("2\n", false).find("only administrators do that"), std::string::npos);
  EXPECT_NE(ForbiddenByPtraceScope("1\n", false).find("sudo sysctl kernel.yama.ptrace_scope=0"),
            std::string::npos);
}

}  // namespace
}  // namespace vramscope::attach
