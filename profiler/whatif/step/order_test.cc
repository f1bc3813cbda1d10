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
  const double spans[] = {1e-3, 1, 1e5, 1e18};
  for (const size_t count : {size_t{0}, size_t{1}, size_t{256}, size_t{257}, size_t{20'000}}) {
    for (const double span : spans) {
      std::vector<Moment> moments;
      for (uint32_t i = 0; i < count; ++i)
        moments.push_back({std::uniform_real_distribution<double>(-span / 8, span)(random),
                           static_cast<uint32_t>(random() % 4), i});
      ExpectOrderOfComparison(moments);
    }
  }
}

TEST(OrderTest, EqualPositionsGoByKindAndThenStayAsTheyWere) {
  std::mt19937_64 random(2);
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < 5'000; ++i) {
    const double at = static_cast<double>(random() % 50) - 5 + (random() % 2 == 0 ? 0 : 0.25);
    moments.push_back({at, static_cast<uint32_t>(random() % 4), i});
  }
  ExpectOrderOfComparison(moments);
}

TEST(OrderTest, ZeroOfEitherSignIsOnePosition) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < 600; ++i) moments.push_back({i % 2 == 0 ? 0.0 : -0.0, i % 3, i});
  ExpectOrderOfComparison(moments);
}

TEST(OrderTest, SpansWithoutAnEndAreCompared) {
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < 600; ++i)
    moments.push_back({i % 3 == 0   ? -std::numeric_limits<double>::infinity()
                       : i % 3 == 1 ? kForever
                                    : -1.0,
                       0, i});
  ExpectOrderOfComparison(moments);
}

}  // namespace
}  // namespace vramscope::whatif
