// SPDX-License-Identifier: Apache-2.0
// Oracle: std::unordered_map under the same random operations.
#include "profiler/model/flat_map.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace vramscope::model {
namespace {

TEST(FlatMapTest, AnswersAsUnorderedMapDoesThroughRandomInsertsAndErases) {
  const uint32_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937 random(seed);
  FlatMap map;
  std::unordered_map<uint64_t, uint32_t> oracle;
  for (uint32_t i = 0; i < 200'000; ++i) {
    const uint64_t key = 1 + random() % 700;  // few keys: long probe chains, many reuses
    if (random() % 2 == 0) {
      const auto [value, fresh] = map.Insert(key, i);
      const auto [entry, oracle_fresh] = oracle.emplace(key, i);
      ASSERT_EQ(fresh, oracle_fresh);
      ASSERT_EQ(*value, entry->second);
    } else {
      ASSERT_EQ(map.Erase(key), oracle.erase(key) == 1);
    }
    ASSERT_EQ(map.size(), oracle.size());
  }
  for (uint64_t key = 1; key <= 700; ++key) {
    const uint32_t* value = map.Find(key);
    const auto entry = oracle.find(key);
    ASSERT_EQ(value != nullptr, entry != oracle.end());
    if (value != nullptr) {
      EXPECT_EQ(*value, entry->second);
    }
  }
}

}  // namespace
}  // namespace vramscope::model
