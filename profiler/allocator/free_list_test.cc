// SPDX-License-Identifier: Apache-2.0
// Oracle: std::set with the order of PyTorch's comparison.
#include "profiler/allocator/free_list.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace vramscope::allocator {
namespace {

TEST(FreeListTest, FindsWhatASortedSetFindsThroughRandomChanges) {
  const auto seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  using Key = std::tuple<uint64_t, uint32_t, uint64_t>;
  std::set<Key> oracle;
  FreeList list;
  for (int step = 0; step < 20000; ++step) {
    const uint64_t bytes = 512 * (1 + random() % 300);
    if (oracle.size() < 1500 && random() % 5 < 3) {
      const Key key(bytes, static_cast<uint32_t>(random() % 3), random());
      oracle.insert(key);
      list.Insert({std::get<0>(key), std::get<2>(key), 7, std::get<1>(key)});
    } else if (!oracle.empty()) {
      auto victim = oracle.lower_bound({bytes, 0, 0});
      if (victim == oracle.end()) victim = oracle.begin();
      list.Erase(std::get<0>(*victim), std::get<1>(*victim), std::get<2>(*victim));
      oracle.erase(victim);
    }
    const auto expected = oracle.lower_bound({bytes, 0, 0});
    const auto found = list.FirstFit(bytes);
    ASSERT_EQ(found == list.end(), expected == oracle.end());
    if (expected == oracle.end()) continue;
    ASSERT_EQ(list.At(found).address, std::get<2>(*expected));
    const auto after = std::next(expected);
    ASSERT_TRUE(after == oracle.end() || list.At(list.After(found)).address == std::get<2>(*after));
    ASSERT_TRUE(expected == oracle.begin() ||
                list.At(list.Before(found)).address == std::get<2>(*std::prev(expected)));
  }
}

}  // namespace
}  // namespace vramscope::allocator
