// SPDX-License-Identifier: Apache-2.0
#include "profiler/report/owner_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::report {
namespace {

using model::testing::Script;
using testing::ElementsAre;

// "layers 300 3", " 0 200 2" ...: one line per node, indented by its depth.
void Write(const OwnerNode& node, size_t depth, std::vector<std::string>& lines) {
  lines.push_back(std::string(depth, ' ') + node.name + " " + std::to_string(node.bytes) + " " +
                  std::to_string(node.blocks));
  for (const OwnerNode& child : node.children) Write(child, depth + 1, lines);
}

class Owned {
 public:
  Owned() {
    s.Module("layers.0", [&] {
      s.Op("aten::mm", [&] { s.Stack({"main (a.py:1)", "f (a.py:2)"}).Alloc("a", 100); });
      s.Op("aten::gelu", [&] { s.Stack({"main (a.py:1)", "g (a.py:3)"}).Alloc("b", 40); });
    });
    s.Module("layers.1", [&] { s.Op("aten::mm", [&] { s.Alloc("c", 300); }); });
    s.Alloc("d", 5);
    s.Alloc("gone", 1000).Free("gone");
    run = s.Load();
  }

  [[nodiscard]] OwnerNode Tree(OwnersBy by) {
    const classify::Analysis analysis(run);
    classify::Origins origins(run, analysis.training());
    const std::vector<model::BlockId> live = {s.Id("a"), s.Id("b"), s.Id("c"), s.Id("d")};
    return MakeOwnerTree(analysis, origins, live, run.event_count() - 1, by);
  }
  [[nodiscard]] std::vector<std::string> Lines(OwnersBy by) {
    std::vector<std::string> lines;
    Write(Tree(by), 0, lines);
    return lines;
  }

  Script s;
  model::Run run;
};

TEST(OwnerTreeTest, ModulesHaveTheirPartsAndWhatRanInThem) {
  EXPECT_THAT(Owned().Lines(OwnersBy::kModule),
              ElementsAre("all 445 4", " layers 440 3", "  1 300 1", "   aten::mm 300 1", "  0 140 2",
                          "   aten::mm 100 1", "   aten::gelu 40 1", " not known 5 1"));
}

TEST(OwnerTreeTest, OperatorsHaveTheModulesThatTheyRanIn) {
  EXPECT_THAT(Owned().Lines(OwnersBy::kOperator),
              ElementsAre("all 445 4", " aten::mm 400 2", "  layers 400 2", "   1 300 1", "   0 100 1",
                          " aten::gelu 40 1", "  layers 40 1", "   0 40 1", " not known 5 1"));
}

TEST(OwnerTreeTest, StacksBeginWithTheOutermostFrame) {
  EXPECT_THAT(Owned().Lines(OwnersBy::kStack),
              ElementsAre("all 445 4", " not known 305 2", " main (a.py:1) 140 2", "  f (a.py:2) 100 1",
                          "  g (a.py:3) 40 1"));
}

TEST(OwnerTreeTest, EachLevelAddsUpInEveryView) {
  const auto check = [](const OwnerNode& node, const auto& self) -> void {
    EXPECT_EQ(classify::Sum(node.categories), node.bytes);
    uint64_t sum = 0, last = ~uint64_t{0};
    for (const OwnerNode& child : node.children) {
      EXPECT_LE(child.bytes, last);
      last = child.bytes;
      sum += child.bytes;
      self(child, self);
    }
    EXPECT_LE(sum, node.bytes);
  };
  for (const OwnersBy by : {OwnersBy::kModule, OwnersBy::kOperator, OwnersBy::kStack, OwnersBy::kCategory})
    check(Owned().Tree(by), check);
}

TEST(OwnerTreeTest, TheSmallBecomeOneAndNoByteIsLost) {
  const OwnerNode tree = Abridged(Owned().Tree(OwnersBy::kModule), 50, 1);
  ASSERT_EQ(tree.children.size(), 2u);
  EXPECT_EQ(tree.children[1].name, "1 smaller");
  EXPECT_EQ(tree.children[0].bytes + tree.children[1].bytes, tree.bytes);
  EXPECT_THAT(tree.children[0].children.back().name, "1 smaller");
}

TEST(OwnerTreeTest, WhereNothingIsKnownItSaysSo) {
  Script s;
  s.Alloc("a", 100);
  const model::Run run = s.Load();
  const classify::Analysis analysis(run);
  classify::Origins origins(run, analysis.training());
  const std::vector<model::BlockId> live = {s.Id("a")};
  EXPECT_FALSE(IsKnown(MakeOwnerTree(analysis, origins, live, 0, OwnersBy::kStack)));
  EXPECT_FALSE(IsKnown(MakeOwnerTree(analysis, origins, {}, 0, OwnersBy::kModule)));
  EXPECT_TRUE(IsKnown(MakeOwnerTree(analysis, origins, live, 0, OwnersBy::kCategory)));
}

}  // namespace
}  // namespace vramscope::report
