// SPDX-License-Identifier: Apache-2.0
#include "profiler/model/coverage.h"

#include <gtest/gtest.h>

namespace vramscope::model {
namespace {

using trace::CoverageState;

TEST(CoverageTest, WhatAProcessSaidLastIsItsStateAndTheBestOfAllProcessesCounts) {
  const std::vector<Coverage> said = {
      {0, "python.modules", CoverageState::kHooked, ""},
      {0, "python.modules", CoverageState::kDisabled, "torch.compile is in use"},
      {0, "python.names", CoverageState::kMissing, "no hooks"},
      {1, "python.names", CoverageState::kProven, ""}};
  const std::vector<Hook> hooks = HooksOf(said);
  ASSERT_EQ(hooks.size(), 2U);
  EXPECT_EQ(hooks[0].state, CoverageState::kDisabled);
  EXPECT_EQ(hooks[0].detail, "torch.compile is in use");
  EXPECT_FALSE(hooks[0].in_place());
  EXPECT_EQ(hooks[1].state, CoverageState::kProven);
  EXPECT_EQ(hooks[1].processes, 2U);
}

TEST(CoverageTest, FailuresAreCountedAndChangeNoState) {
  const std::vector<Coverage> said = {{0, "python.names", CoverageState::kProven, "as ever"},
                                      {0, "python.names", kHookFailed, "KeyError: 7"},
                                      {0, "python.names", kHookFailed, ""},
                                      {1, "python.names", kHookFailed, "IndexError"},
                                      {1, "python.import", kHookFailed, "OSError"}};
  const std::vector<Hook> hooks = HooksOf(said);
  ASSERT_EQ(hooks.size(), 2U);
  EXPECT_TRUE(hooks[0].in_place()) << "it was called";
  EXPECT_EQ(hooks[1].state, CoverageState::kProven);
  EXPECT_EQ(hooks[1].detail, "as ever");
  EXPECT_EQ(hooks[1].failures, 3U);
  EXPECT_EQ(hooks[1].failure, "KeyError: 7");
}

}  // namespace
}  // namespace vramscope::model
