// SPDX-License-Identifier: Apache-2.0
#include "trace_format/live_set.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "trace_format/checkpoint.h"

namespace vramscope::trace {
namespace {

using Key = std::pair<uint32_t, uint64_t>;

bool Same(const LiveBlock& a, const LiveBlock& b) {
  return a.number == b.number && a.address == b.address && a.size == b.size && a.device == b.device &&
         a.time_ns == b.time_ns && a.process == b.process;
}

void ExpectSame(const std::vector<LiveBlock>& got, const std::map<uint64_t, LiveBlock>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  size_t i = 0;
  for (const auto& [number, block] : wanted) EXPECT_TRUE(Same(got[i++], block)) << number;
}

// Oracle: std::map. Few addresses, so that blocks collide, replace each other and leave holes in probe
// sequences.
TEST(LiveSetTest, AgreesWithAMapOverRandomChanges) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE(::testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  LiveSet set;
  std::map<Key, LiveBlock> oracle;
  for (uint64_t number = 1; number <= 200'000; ++number) {
    const Key key{static_cast<uint32_t>(random() % 3), random() % 4000 * 64};
    if (random() % 2 == 0) {
      const LiveBlock block{number, key.second, random(), random() % 4, number * 10, key.first};
      set.Insert(block);
      oracle[key] = block;
    } else {
      set.Erase(key.first, key.second);
      oracle.erase(key);
    }
    const Key other{static_cast<uint32_t>(random() % 3), random() % 4000 * 64};
    const LiveBlock* found = set.Find(other.first, other.second);
    const auto wanted = oracle.find(other);
    ASSERT_EQ(found != nullptr, wanted != oracle.end());
    if (found != nullptr) {
      ASSERT_TRUE(Same(*found, wanted->second));
    }
  }
  std::map<uint64_t, LiveBlock> by_number;
  for (const auto& [key, block] : oracle) by_number[block.number] = block;
  ExpectSame(set.Sorted(), by_number);
}

TEST(CheckpointTest, ComesBackWholeWithExtremeValues) {
  const std::vector<LiveBlock> blocks = {{1, ~uint64_t{0}, 0, 0, ~uint64_t{0}, 0},
                                         {2, 0, ~uint64_t{0}, 256, 0, ~uint32_t{0}},
                                         {~uint64_t{0}, 64, 512, 511, 7, 3}};
  const auto decoded = DecodeCheckpoint(EncodeCheckpoint(blocks), 3);
  ASSERT_TRUE(decoded);
  ASSERT_EQ(decoded->size(), blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) EXPECT_TRUE(Same((*decoded)[i], blocks[i])) << i;
  EXPECT_FALSE(DecodeCheckpoint(EncodeCheckpoint(blocks), 4));
  EXPECT_TRUE(DecodeCheckpoint(EncodeCheckpoint({}), 0));
}

}  // namespace
}  // namespace vramscope::trace
