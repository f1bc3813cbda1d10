// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/step/order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace vramscope::whatif {
namespace {

std::vector<Moment> Compared(std::vector<Moment> moments) {
  std::stable_sort(moments.begin(), moments.end(), [](const Moment& a, const Moment& b) {
    return a.at != b.at ? a.at < b.at : a.kind < b.kind;
  });
  return moments;
}

void ExpectOrderOfComparison(const std::vector<Moment>& moments) {
  std::vector<Moment> ordered = moments;
  PutInOrder(ordered);
  const std::vector<Moment> wanted = Compared(moments);
  ASSERT_EQ(ordered.size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) ASSERT_EQ(ordered[i].index, wanted[i].index) << i;
}

TEST(OrderTest, ManyMomentsAreInTheOrderThatComparingGives) {
  std::mt19937_64 random(1);
  const int64_t spans[] = {0, 1, 100'000, kForever.event};
  for (const size_t count : {size_t{0}, size_t{1}, size_t{256}, size_t{257}, size_t{20'000}}) {
    for (const int64_t span : spans) {
      std::vector<Moment> moments;
      for (uint32_t i = 0; i < count; ++i) {
        const Position event = std::uniform_int_distribution<int64_t>(-span / 8, span)(random);
        const auto place = static_cast<int64_t>(random() % 5) - 2;
        moments.push_back({Later(After(event, place), static_cast<int64_t>(random() % 3)),
                           static_cast<uint32_t>(random() % 4), i});
      }
      ExpectOrderOfComparison(moments);
    }
  }
}

TEST(OrderTest, EqualPositionsGoByKindAndThenStayAsTheyWere) {
  std::mt19937_64 random(2);
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < 5'000; ++i) {
    const Position event = static_cast<int64_t>(random() % 50) - 5;
    moments.push_back({After(event, random() % 2 == 0 ? 0 : 1), static_cast<uint32_t>(random() % 4), i});
  }
  ExpectOrderOfComparison(moments);
}

}  // namespace
}  // namespace vramscope::whatif
