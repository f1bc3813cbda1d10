// SPDX-License-Identifier: Apache-2.0
// What was told of variables moves with the events behind a room that something is put into.
#include "profiler/whatif/step/insert.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_step.h"

namespace vramscope::whatif {
namespace {

class InserterTest : public testing::Test, protected WrittenStep {
 protected:
  InserterTest() {
    const uint32_t x = AddBlock(1, 190), y = AddBlock(11, 190);
    Work(10, Node(150), {x, y});
    step_.named = {{x, 8, kBefore, false, true}, {y, 60, 30, true, true}};
  }
};

TEST_F(InserterTest, WhatVariablesHoldEndsLaterBehindARoom) {
  Inserter into(step_, {20});
  const Step changed = std::move(into).Finish();
  EXPECT_EQ(changed.named[0].until, 8) << "before it";
  EXPECT_EQ(changed.named[0].unconverted, kBefore) << "nothing holds it";
  EXPECT_EQ(changed.named[1].until, 60 + Inserter::kRoom);
  EXPECT_EQ(changed.named[1].unconverted, 30 + Inserter::kRoom);
}

TEST_F(InserterTest, SoDoesWhatHoldsWhatIsConverted) {
  step_.ops[0].named = 40;
  EXPECT_EQ(Inserter(step_, {20}).step().ops[0].named, 40 + Inserter::kRoom);
  EXPECT_EQ(Inserter(step_, {50}).step().ops[0].named, 40);
  step_.ops[0].named = kBefore;
  EXPECT_EQ(Inserter(step_, {20}).step().ops[0].named, kBefore);
}

// A leaf that the next step lets go of in its forward.
TEST_F(InserterTest, WhatEndsInTheNextStepEndsBehindTheRoomsOfBoth) {
  step_.blocks[0].end = step_.length + 60, step_.blocks[1].end = step_.length + 10;
  const Step changed = Inserter(step_, {20}).step();
  EXPECT_EQ(changed.blocks[0].end, step_.length + 60 + 2 * Inserter::kRoom);
  EXPECT_EQ(changed.blocks[1].end, step_.length + 10 + Inserter::kRoom) << "before the room of the next";
}

}  // namespace
}  // namespace vramscope::whatif
