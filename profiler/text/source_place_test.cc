// SPDX-License-Identifier: Apache-2.0
#include "profiler/text/source_place.h"

#include <gtest/gtest.h>

namespace vramscope::text {
namespace {

TEST(SourcePlaceTest, FramesOfAllKindsNameTheirPlace) {
  const auto place = [](const char* frame) {
    const auto found = SourcePlaceOf(frame);
    return found ? found->path + "|" + std::to_string(found->line) + "|" + found->function : "none";
  };
  EXPECT_EQ(place("forward (/src/model.py:7)"), "/src/model.py|7|forward");
  EXPECT_EQ(place("/src/model.py:7 forward"), "/src/model.py|7|forward");
  EXPECT_EQ(place("train.py:42"), "train.py|42|");
  EXPECT_EQ(place("at::native::mm(at::Tensor) (/b/mm.cpp:9)"), "/b/mm.cpp|9|at::native::mm(at::Tensor)");
  EXPECT_EQ(place("torch::autograd::Engine::execute"), "none");
  EXPECT_EQ(place("f (/src/model.py:0)"), "none");
  EXPECT_EQ(place("f (/src/model.py:99999999999)"), "none");
  EXPECT_EQ(place(""), "none");
}

}  // namespace
}  // namespace vramscope::text
