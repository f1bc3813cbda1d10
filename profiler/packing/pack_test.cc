// SPDX-License-Identifier: Apache-2.0
#include "profiler/packing/pack.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "profiler/packing/as_they_come.h"
#include "profiler/packing/csv.h"
#include "profiler/packing/first_fit.h"
#include "profiler/packing/section_search.h"

namespace vramscope::packing {
namespace {

using ::testing::HasSubstr;

// Checks every pair, by the definition alone.
std::string Fault(const std::vector<Item>& items, const Packing& packing) {
  for (size_t i = 0; i < items.size(); ++i) {
    if (packing.offsets[i] + items[i].bytes > packing.height)
      return "item " + std::to_string(i) + " ends above the height";
    for (size_t j = 0; j < i; ++j) {
      const bool at_one_time = items[i].begin < items[j].end && items[j].begin < items[i].end;
      const bool in_one_place = packing.offsets[i] < packing.offsets[j] + items[j].bytes &&
                                packing.offsets[j] < packing.offsets[i] + items[i].bytes;
      if (at_one_time && in_one_place)
        return "items " + std::to_string(j) + " and " + std::to_string(i) + " overlap";
    }
  }
  return "";
}

std::vector<Item> RandomItems(std::mt19937* chance, size_t count, int64_t times, uint64_t sizes) {
  std::vector<Item> items;
  for (size_t i = 0; i < count; ++i) {
    const auto begin = static_cast<int64_t>((*chance)() % static_cast<uint64_t>(times));
    items.push_back({begin, begin + 1 + static_cast<int64_t>((*chance)() % static_cast<uint64_t>(times)),
                     (*chance)() % sizes});
  }
  return items;
}

// The minimum height over all orders. Some optimal packing places the items in order of their offsets, each
// as low as it fits.
uint64_t BestOfAllOrders(const std::vector<Item>& items) {
  std::vector<size_t> order(items.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  uint64_t best = ~uint64_t{0};
  do {
    std::vector<uint64_t> offsets(items.size());
    uint64_t height = 0;
    for (size_t turn = 0; turn < order.size(); ++turn) {
      const Item& item = items[order[turn]];
      uint64_t offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t before = 0; before < turn; ++before) {
          const Item& other = items[order[before]];
          const uint64_t at = offsets[order[before]];
          if (item.begin < other.end && other.begin < item.end && offset < at + other.bytes &&
              at < offset + item.bytes) {
            offset = at + other.bytes;
            moved = true;
          }
        }
      }
      offsets[order[turn]] = offset;
      height = std::max(height, offset + item.bytes);
    }
    best = std::min(best, height);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

Deadline InAnHour() { return Deadline(Deadline::Clock::now() + std::chrono::hours(1)); }

TEST(PackTest, FindsTheOptimumOfSmallInstancesAndProvesIt) {
  std::mt19937 chance(std::random_device{}());
  const auto seed = chance();
  SCOPED_TRACE("seed " + std::to_string(seed));
  chance.seed(seed);
  for (int round = 0; round < 60; ++round) {
    const std::vector<Item> items = RandomItems(&chance, 7, 6, 9);
    const Answer answer = Pack(items, {});
    EXPECT_EQ(Fault(items, answer.packing), "");
    EXPECT_EQ(answer.packing.height, BestOfAllOrders(items));
    EXPECT_TRUE(answer.optimal()) << answer.packing.height << " " << answer.lower_bound;
  }
}

TEST(PackTest, OverlapsNowhereInRandomInstances) {
  std::mt19937 chance(std::random_device{}());
  const auto seed = chance();
  SCOPED_TRACE("seed " + std::to_string(seed));
  chance.seed(seed);
  for (int round = 0; round < 20; ++round) {
    const std::vector<Item> items = RandomItems(&chance, 200, 60, 1000);
    const Sections sections = FindSections(items);
    Deadline later = InAnHour();
    for (const Order order : {Order::kSize, Order::kArea, Order::kLifetime}) {
      EXPECT_EQ(Fault(items, FirstFit(items, sections, order, later).value()), "");
    }
    EXPECT_EQ(Fault(items, AsTheyCome(items, later)), "");
    const Answer answer = Pack(items, {.budget = std::chrono::milliseconds(20)});
    EXPECT_EQ(Fault(items, answer.packing), "");
    EXPECT_GE(answer.packing.height, answer.lower_bound);
    EXPECT_LE(answer.packing.height, answer.first_fit_height);
  }
}

TEST(PackTest, TakesNothingForNothing) {
  EXPECT_EQ(Pack({}, {}).packing.height, 0u);
  const std::vector<Item> items = {{0, 5, 0}, {3, 4, 0}};
  EXPECT_EQ(Pack(items, {}).packing.height, 0u);
}

TEST(PackTest, EndsWithAPackingHoweverLittleTimeThereIs) {
  std::mt19937 chance(7);
  const std::vector<Item> items = RandomItems(&chance, 1000, 300, 1000);
  const Answer none = Pack(items, {.budget = std::chrono::nanoseconds(0)});
  EXPECT_EQ(Fault(items, none.packing), "");
  EXPECT_EQ(none.reached, Reached::kAsTheyCome);
  // Each item overlaps all others: a descent of the search would take 10^10 steps, so none begins.
  std::vector<Item> long_lived;
  for (int64_t i = 0; i < 100'000; ++i) long_lived.push_back({i, i + 1'000'000, 1 + chance() % 4096});
  Deadline now(Deadline::Clock::now());
  EXPECT_FALSE(FirstFit(long_lived, FindSections(long_lived), Order::kSize, now).has_value());
  std::vector<Item> pairs = items;
  for (int64_t i = 0; i < 6000; ++i) pairs.push_back({i, i + 6000 - i % 2, 1 + chance() % 4096});
  const Answer wide = Pack(pairs, {.budget = std::chrono::hours(1), .good_enough = 0.0});
  EXPECT_EQ(wide.reached, Reached::kFirstFit);
}

TEST(SectionSearchTest, ProvesThatTwoThatMeetDoNotFitIntoLess) {
  const std::vector<Item> items = {{0, 2, 4}, {1, 3, 4}};
  SectionSearch search(items, FindSections(items), 1);
  Deadline later = InAnHour();
  EXPECT_EQ(search.Search(7, 1000, later), SectionSearch::Outcome::kImpossible);
  EXPECT_EQ(search.Search(8, 1000, later), SectionSearch::Outcome::kFound);
}

TEST(CsvTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(ParseCsv("id,lower,upper\n").error().sentence, HasSubstr("\"size\""));
  EXPECT_THAT(ParseCsv("id,lower,upper,size\n1,0,5,3\n2,5,5,1\n").error().sentence, HasSubstr("line 3"));
  const NamedItems named = ParseCsv("size,upper,lower,id\n7,5,2,x\r\n").value();
  EXPECT_EQ(named.items[0].begin, 2);
  EXPECT_EQ(OffsetsCsv(named, {{3}, 10}), "id,lower,upper,size,offset\nx,2,5,7,3\n");
}

// All eleven benchmarks, with a checker in another language: tests/packing.
TEST(PackTest, ReachesTheCapacityOfMiniMallocsBenchmarks) {
  const std::filesystem::path folder = std::string(VRAMSCOPE_SOURCE_DIR) + "/../shared/data/packing";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no benchmark instances beside this checkout";
  int seen = 0;
  for (const char letter : std::string("ACG")) {
    std::ifstream file(folder / (std::string("mm_") + letter + ".1048576.csv"));
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const std::vector<Item> items = ParseCsv(text).value().items;
    const double wanted = 1048576.0 / static_cast<double>(LowerBound(items)) - 1;
    const Answer answer = Pack(items, {.budget = std::chrono::seconds(60), .good_enough = wanted});
    EXPECT_LE(answer.packing.height, 1048576u) << letter;
    EXPECT_EQ(Fault(items, answer.packing), "") << letter;
    ++seen;
  }
  EXPECT_EQ(seen, 3);
}

}  // namespace
}  // namespace vramscope::packing
