// SPDX-License-Identifier: Apache-2.0
// Hand-written nodes that save the same block: which reference does a release belong to?
#include "profiler/whatif/step/open_saves.h"

#include <gtest/gtest.h>

namespace vramscope::whatif {
namespace {

constexpr BlockIndex kShared = 0, kOwn = 1;
constexpr NodeIndex kFirst = 0, kSecond = 1, kThird = 2;

// Three nodes that have not run save one block; only the second one also saves a block of its own.
class OpenSavesTest : public testing::Test {
 protected:
  OpenSavesTest() {
    step_.blocks.resize(2);
    step_.nodes.resize(3);
    for (const NodeIndex node : {kFirst, kSecond, kThird}) Add(kShared, node);
    Add(kOwn, kSecond);
  }

  void Add(BlockIndex block, NodeIndex node) {
    Saved saved;
    saved.block = block, saved.node = node;
    saves_.Add(step_, saved);
  }
  // The node whose reference was released.
  uint32_t Release(BlockIndex block) {
    saves_.Release(step_, block, ++now_);
    for (const Saved& saved : step_.saved)
      if (saved.released == now_) return saved.node;
    return model::kNone;
  }

  Step step_;
  OpenSaves saves_;
  int64_t now_ = 200;
};

TEST_F(OpenSavesTest, OfNodesThatNeverRanTheFirstOneLetsGo) {
  EXPECT_EQ(Release(kShared), kFirst);
  EXPECT_EQ(Release(kShared), kSecond);
  EXPECT_EQ(Release(kShared), kThird);
  EXPECT_EQ(Release(kShared), model::kNone) << "none is open";
}

// A graph that was not needed is released node by node.
TEST_F(OpenSavesTest, OfNodesThatNeverRanTheOneThatJustLetGoOfSomethingLetsGo) {
  EXPECT_EQ(Release(kOwn), kSecond);
  EXPECT_EQ(Release(kShared), kSecond);
  EXPECT_EQ(Release(kShared), kFirst) << "it has nothing more of it";
}

TEST_F(OpenSavesTest, WhatRanLastLetsGoWhicheverDidBefore) {
  step_.nodes[kFirst].begin = 110, step_.nodes[kThird].begin = 120;
  EXPECT_EQ(Release(kOwn), kSecond);
  EXPECT_EQ(Release(kShared), kThird);
  EXPECT_EQ(Release(kShared), kFirst);
  EXPECT_EQ(Release(kShared), kSecond);
}

// The loss does not depend on the second node: its reference was the one released before backward.
TEST_F(OpenSavesTest, WhatWentBeforeItsNodeRanWasOfOneThatNeverDid) {
  EXPECT_EQ(Release(kShared), kFirst);
  step_.nodes[kThird].begin = 210, now_ = 210;
  EXPECT_EQ(Release(kShared), kThird);
  step_.nodes[kFirst].begin = 220, now_ = 220;
  EXPECT_EQ(Release(kShared), kSecond) << "released already, as far as was known";
  OpenSaves::Settle(step_);
  EXPECT_EQ(step_.saved[kFirst].released, 221);
  EXPECT_EQ(step_.saved[kSecond].released, 201);
  EXPECT_EQ(step_.saved[kThird].released, 211);
}

}  // namespace
}  // namespace vramscope::whatif
