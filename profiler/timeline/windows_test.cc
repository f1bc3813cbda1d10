// SPDX-License-Identifier: Apache-2.0
// Oracle: loops written in PyTorch's order of operations, with the windows that their author would name.
#include "profiler/timeline/windows.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::timeline {
namespace {

using model::testing::Script;
using trace::RangeKind;

void Replay(Script& s) {
  s.Range(RangeKind::kGraphReplay, "", 1, [] {});
}

void Optimizer(Script& s) {
  s.Optimizer("Adam", [&] { s.Alloc("scratch", 8).Free("scratch"); });
}

// "backward optimizer": the outermost windows in order.
std::string WindowsOf(const Script& s) {
  const auto run = s.Load();
  std::string story;
  for (const Window& window : FindWindows(run, 0).outermost) {
    if (!story.empty()) story += ' ';
    story += window.optimizer ? "optimizer" : "backward";
  }
  return story;
}

TEST(WindowsTest, AReplayedGraphIsTheBackwardPassOfAStepThatHasNoOther) {
  Script s;
  s.Backward([] {});  // step 1 captures the graph and replays it
  Replay(s);
  Optimizer(s);
  for (int step = 2; step <= 3; ++step) {
    s.Alloc("batch", 8);
    Replay(s);
    Optimizer(s);
    s.Free("batch");
  }
  EXPECT_EQ(WindowsOf(s), "backward optimizer backward optimizer backward optimizer");
}

TEST(WindowsTest, MicroBatchesMayBeReplaysToo) {
  Script s;
  Replay(s);
  Replay(s);
  Optimizer(s);
  EXPECT_EQ(WindowsOf(s), "backward backward optimizer");
}

TEST(WindowsTest, TheGraphOfALayerIsAPartOfForwardAndOfBackward) {
  Script s;
  Replay(s);
  s.Backward([&] { Replay(s); });
  Optimizer(s);
  EXPECT_EQ(WindowsOf(s), "backward optimizer");
}

TEST(WindowsTest, AReplayThatNoOptimizerFollowsTrainsNothing) {
  Script s;
  Optimizer(s);
  Replay(s);
  EXPECT_EQ(WindowsOf(s), "optimizer");
}

}  // namespace
}  // namespace vramscope::timeline
