// SPDX-License-Identifier: Apache-2.0
// Oracle: the texts that were defined, read back from the trace.
#include "profiler/collector/order/id_map.h"

#include <gtest/gtest.h>

#include "profiler/collector/testing/trace_rig.h"

namespace vramscope::collector {
namespace {

using testing::TraceRig;

TEST(IdMapTest, TheSameTextOfTwoProcessesIsOneStringOfTheTrace) {
  TraceRig rig;
  IdMap first(*rig.output, nullptr, 1);
  IdMap second(*rig.output, nullptr, 1);
  first.DefineString(1, "layer.weight");
  second.DefineString(9, "layer.weight");
  EXPECT_EQ(first.String(1), second.String(9));
  EXPECT_EQ(first.String(0), 0U);
  EXPECT_EQ(first.String(2), 0U);
  EXPECT_EQ(first.unknown_ids(), 1U);
}

TEST(IdMapTest, AForkedChildHasItsParentsTextsUpToTheForkAndItsOwnAbove) {
  TraceRig rig;
  auto parent = std::make_shared<IdMap>(*rig.output, nullptr, 1);
  IdMap child(*rig.output, parent, 3);
  parent->DefineString(1, "one");
  parent->DefineString(2, "two");
  parent->DefineString(3, "parent's three");
  child.DefineString(3, "child's three");
  EXPECT_EQ(child.String(1), parent->String(1));
  EXPECT_NE(child.String(3), parent->String(3));
  parent->DefineString(4, "after the fork");
  EXPECT_EQ(child.String(4), 0U);
}

TEST(IdMapTest, AChainOfForksReachesTheFirst) {
  TraceRig rig;
  auto map = std::make_shared<IdMap>(*rig.output, nullptr, 1);
  map->DefineString(1, "first");
  const trace::StringId first = map->String(1);
  for (uint32_t i = 0; i < 50; ++i) map = std::make_shared<IdMap>(*rig.output, map, 2);
  EXPECT_EQ(map->String(1), first);
}

TEST(IdMapTest, StacksArePathsOfTheirFramesAndAreNotInherited) {
  TraceRig rig;
  auto parent = std::make_shared<IdMap>(*rig.output, nullptr, 1);
  parent->DefineString(1, "main");
  parent->DefineString(2, "train");
  const uint64_t frames[] = {1, 2};
  parent->DefineStack(1, frames);
  IdMap child(*rig.output, parent, 3);
  EXPECT_NE(parent->Stack(1), 0U);
  EXPECT_EQ(child.Stack(1), 0U);
  child.DefineStack(5, frames);
  EXPECT_EQ(child.Stack(5), parent->Stack(1));
}

TEST(IdMapTest, IdsOfABrokenRingCostNoMoreMemoryThanTheirDefinitions) {
  TraceRig rig;
  IdMap map(*rig.output, nullptr, 1);
  for (uint32_t id = UINT32_MAX; id > UINT32_MAX - 1000; --id) map.DefineString(id, "far");
  map.DefineString(1, "near");
  EXPECT_NE(map.String(UINT32_MAX), 0U);
  EXPECT_NE(map.String(1), map.String(UINT32_MAX));
  EXPECT_EQ(map.String(uint64_t{1} << 40), 0U);
}

TEST(IdMapTest, MetadataIsKeptApartFromTheTracesTexts) {
  TraceRig rig;
  IdMap map(*rig.output, nullptr, 1);
  map.DefineString(1, "meta:torch.version=2.15.0");
  map.DefineString(2, "metal");
  EXPECT_EQ(map.Metadata(1), "torch.version=2.15.0");
  EXPECT_EQ(map.Metadata(2), "");
  EXPECT_EQ(map.String(1), 0U);
}

}  // namespace
}  // namespace vramscope::collector
