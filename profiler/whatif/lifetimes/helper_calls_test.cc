// SPDX-License-Identifier: Apache-2.0
// Calls of functions of whose source nothing is told.
#include "profiler/whatif/lifetimes/helper_calls.h"

#include <gtest/gtest.h>

#include "profiler/whatif/testing/written_program.h"

namespace vramscope::whatif {
namespace {

TEST(HelperCallsTest, AFunctionHasReturnedWhenAnOperatorIsCalledWithoutIt) {
  const Program program({}, [](Program& p) {
    p.Make("a", {31, 11});
    p.Make("inner", {41, 33, 11});
    p.Make("b", {34, 11});
    p.Make("c", {12});
    p.End();
  });
  EXPECT_EQ(program.LeftBehind(1), 4u);
  EXPECT_EQ(program.LeftBehind(3), 4u);
  EXPECT_EQ(program.LeftBehind(4), 0u) << "a module's forward";
}

TEST(HelperCallsTest, OrFromAnotherLineOrFromItsBegin) {
  const Program program({}, [](Program& p) {
    p.Make("a", {31, 11});
    p.Make("b", {32, 12});
    p.Make("c", {31, 12});
    p.End();
  });
  EXPECT_EQ(program.LeftBehind(1), 2u);
  EXPECT_EQ(program.LeftBehind(2), 3u);
}

}  // namespace
}  // namespace vramscope::whatif
