// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/leaves.h"

#include <gtest/gtest.h>

#include "profiler/classify/analysis.h"
#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;
using trace::LabelSource;
using trace::Role;

// backward(create_graph=True): the input, its gradient and the graph hold each other.
TEST(LeavesTest, AnInputThatRequiresAGradientAndIsKeptForGoodIsNoParameter) {
  constexpr uint64_t kByHand = 99;
  Script s;
  s.Alloc("weight", 400).Parameter("weight", "w").Alloc("by_hand", 64);
  for (uint64_t step = 1; step <= 3; ++step) {
    const uint64_t x = 50 + step;
    s.Alloc("x", 128);
    s.Backward([&] {
      s.Label("x", Role::kParameter, LabelSource::kAccumulateGrad, "", x).Alloc("x_grad", 128);
      s.Label("x_grad", Role::kGradient, LabelSource::kAccumulateGrad, "", x);
      s.Label("by_hand", Role::kParameter, LabelSource::kAccumulateGrad, "", kByHand).Alloc("hand_grad", 64);
      s.Label("hand_grad", Role::kGradient, LabelSource::kAccumulateGrad, "", kByHand);
      s.Alloc("grad", 400).Gradient("grad", "weight");
    });
    s.Optimizer("SGD", [] {});
    s.Free("grad").Free("hand_grad");
  }
  const auto run = s.Load();
  const Analysis analysis(run);
  const auto last = [&](const char* block, size_t occurrence) {
    const Life life = analysis.categories().Of(s.Id(block, occurrence));
    return life[life.size() - 1].category;
  };
  for (size_t step = 1; step <= 3; ++step) {
    EXPECT_NE(last("x", step), Category::kParameter) << step;
    EXPECT_NE(last("x_grad", step), Category::kGradient) << step;
  }
  EXPECT_EQ(last("weight", 1), Category::kParameter);
  EXPECT_EQ(last("by_hand", 1), Category::kParameter) << "trained without an optimizer, in every step";
}

}  // namespace
}  // namespace vramscope::classify
