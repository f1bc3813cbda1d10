// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/owner_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

OwnerNode RandomTree(std::mt19937& random, int depth) {
  OwnerNode node;
  node.name = "n" + std::to_string(random() % 1000);
  if (depth == 0 || random() % 4 == 0) {
    node.bytes = 1 + random() % 1'000'000;
    return node;
  }
  for (size_t i = 1 + random() % 12; i > 0; --i) {
    node.children.push_back(RandomTree(random, depth - 1));
    node.bytes += node.children.back().bytes;
  }
  std::stable_sort(node.children.begin(), node.children.end(),
                   [](const OwnerNode& a, const OwnerNode& b) { return a.bytes > b.bytes; });
  return node;
}

void ExpectNested(const std::vector<OwnerBox>& boxes, bool below) {
  constexpr float kSlack = 0.6f;
  for (size_t i = 1; i < boxes.size(); ++i) {
    const OwnerBox& box = boxes[i];
    const OwnerBox& parent = boxes[box.parent];
    ASSERT_LT(box.parent, i);
    ASSERT_GE(box.x, parent.x - kSlack);
    ASSERT_LE(box.x + box.width, parent.x + parent.width + kSlack);
    ASSERT_GE(box.y, parent.y - kSlack);
    if (!below) {
      ASSERT_LE(box.y + box.height, parent.y + parent.height + kSlack);
    }
    for (size_t j = 1; j < i; ++j) {
      if (boxes[j].parent != box.parent) continue;
      const float x = std::min(box.x + box.width, boxes[j].x + boxes[j].width) - std::max(box.x, boxes[j].x);
      const float y =
          std::min(box.y + box.height, boxes[j].y + boxes[j].height) - std::max(box.y, boxes[j].y);
      ASSERT_FALSE(x > kSlack && y > kSlack) << "siblings overlap";
    }
  }
}

TEST(OwnerLayoutTest, AFlameGraphGivesEachOwnerItsShareOfTheWidth) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const OwnerNode tree = RandomTree(random, 4);
    const std::vector<OwnerBox> boxes = LayOutFlame(tree, 1000, 400, 20);
    ASSERT_NO_FATAL_FAILURE(ExpectNested(boxes, true));
    for (const OwnerBox& box : boxes) {
      ASSERT_NEAR(box.width, 1000.0 * static_cast<double>(box.node->bytes) / static_cast<double>(tree.bytes),
                  0.5);
      ASSERT_LE(box.y + box.height, 400);
    }
  }
}

TEST(OwnerLayoutTest, ATreemapGivesSiblingsAreasByTheirBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 20; ++round) {
    const OwnerNode tree = RandomTree(random, 3);
    const std::vector<OwnerBox> boxes = LayOutTreemap(tree, 900, 500, 16, 2);
    ASSERT_NO_FATAL_FAILURE(ExpectNested(boxes, false));
    std::vector<size_t> first(boxes.size(), 0);
    for (size_t i = 1; i < boxes.size(); ++i) {
      size_t& sibling = first[boxes[i].parent];
      if (sibling == 0) sibling = i;
      const double expected = static_cast<double>(boxes[sibling].width) * boxes[sibling].height *
                              static_cast<double>(boxes[i].node->bytes) /
                              static_cast<double>(boxes[sibling].node->bytes);
      ASSERT_NEAR(static_cast<double>(boxes[i].width) * boxes[i].height, expected, 1 + expected * 0.02);
    }
  }
}

TEST(OwnerLayoutTest, AnEmptyTreeIsOneBox) {
  const OwnerNode nothing;
  EXPECT_EQ(LayOutFlame(nothing, 100, 100, 10).size(), 1u);
  EXPECT_EQ(LayOutTreemap(nothing, 100, 100, 10, 2).size(), 1u);
}

TEST(OwnerViewTest, TheZoomStaysWhenTheMomentMovesOn) {
  model::testing::Script s;
  s.Module("layers.0", [&] { s.Op("aten::mm", [&] { s.Alloc("a", 100); }); });
  s.Module("layers.1", [&] { s.Op("aten::mm", [&] { s.Alloc("b", 300); }); });
  s.Free("a");
  const auto document = MakeDocument("run.vms", s.Load(), nullptr);
  const DeviceView& device = *document->devices[0];
  const model::EventIndex end = document->run->event_count() - 1;
  OwnerView view;
  view.Update(*document, device, end - 1);
  ASSERT_EQ(view.tree().bytes, 400u);
  const auto boxes = LayOutFlame(view.shown(), 1000, 400, 20);
  size_t smaller = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].node->name == "0") smaller = i;
  }
  ASSERT_NE(smaller, 0u);
  view.ZoomTo(boxes, smaller);
  EXPECT_THAT(view.zoom(), testing::ElementsAre("layers", "0"));
  EXPECT_EQ(view.shown().bytes, 100u);
  view.Update(*document, device, end);  // the block is freed: the zoom stays at the deepest existing node
  EXPECT_EQ(view.shown().name, "layers");
  EXPECT_EQ(view.shown().bytes, 300u);
  view.Update(*document, device, end - 1);
  EXPECT_EQ(view.shown().bytes, 100u);
  view.ZoomOut(0);
  EXPECT_EQ(view.shown().bytes, 400u);
  view.by = OwnersBy::kOperator;
  view.Update(*document, device, end - 1);
  EXPECT_EQ(view.shown().children[0].name, "aten::mm");
}

}  // namespace
}  // namespace vramscope::viewer
