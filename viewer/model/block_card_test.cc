// SPDX-License-Identifier: Apache-2.0
#include "viewer/model/block_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::viewer {
namespace {

using ::testing::HasSubstr;
using trace::EventType;

std::string ValueOf(const BlockCard& card, const std::string& label) {
  for (const CardFact& fact : card.facts) {
    if (fact.label == label) return fact.value;
  }
  return "";
}

class BlockCardTest : public testing::Test {
 protected:
  model::testing::Script s;
  std::unique_ptr<Document> document_;
  std::unique_ptr<TensorFacts> tensors_;

  BlockCard CardOf(const std::string& block) {
    document_ = MakeDocument("run.vms", s.Load(), nullptr);
    tensors_ = std::make_unique<TensorFacts>(*document_->run);
    const model::BlockId id = s.Id(block);
    return MakeBlockCard(*document_, *document_->devices[0], id, document_->run->blocks[id].alloc_event,
                         tensors_.get(), nullptr);
  }
};

TEST_F(BlockCardTest, NamesWhenItWasBornWhenAndInWhatItWasFreed) {
  s.Data([&] { s.Alloc("batch", 64); }).Alloc("first", 8).Saved("first");
  s.At(1'000'000).Alloc("hidden", 4096, 4000).Saved("hidden");
  s.Backward([&] { s.Node("MmBackward0", 7, [&] { s.At(3'000'000).Released("hidden").Free("hidden"); }); });
  s.Optimizer("SGD", [] {});
  const BlockCard card = CardOf("hidden");
  EXPECT_EQ(ValueOf(card, "Size"), "4.0 KiB (4,096 B)");
  EXPECT_EQ(ValueOf(card, "Requested"), "4,000 B, waste 2 %");
  EXPECT_THAT(ValueOf(card, "Born"), HasSubstr("step 1, forward"));
  EXPECT_THAT(ValueOf(card, "Freed"), HasSubstr("step 1, backward"));
  EXPECT_EQ(ValueOf(card, "Freed in"), "MmBackward0");
  EXPECT_EQ(ValueOf(card, "Lived"), "2.0 ms");
  EXPECT_EQ(card.category, classify::Category::kActivation);
  EXPECT_FALSE(card.proof.empty());
  EXPECT_EQ(card.died, document_->run->blocks[s.Id("hidden")].free_event);
  for (const CardFact& fact : card.facts) {
    if (fact.label == "Born") {
      EXPECT_EQ(fact.moment, card.born) << "a click goes there";
    }
  }
}

TEST_F(BlockCardTest, WhatIsNeverFreedSaysSo) {
  s.Alloc("weight", 512).Parameter("weight", "fc.weight");
  const BlockCard card = CardOf("weight");
  EXPECT_EQ(card.title, "fc.weight");
  EXPECT_THAT(ValueOf(card, "Freed"), HasSubstr("never"));
  EXPECT_EQ(ValueOf(card, "Lived"), "");
}

TEST_F(BlockCardTest, OwnFramesComeFirstAndKeepTheirOrder) {
  s.Stack({"main (/src/train.py:118)",
           "_call_impl (/v/lib/python3.11/site-packages/torch/nn/modules/module.py:1553)",
           "forward (/src/train.py:32)",
           "linear (/v/lib/python3.11/site-packages/torch/nn/functional.py:9)"});
  s.Alloc("x", 64);
  const BlockCard card = CardOf("x");
  ASSERT_EQ(card.allocated_at.size(), 4u);
  EXPECT_EQ(card.allocated_at[0].place, "train.py:32");
  EXPECT_EQ(card.allocated_at[0].function, "forward");
  EXPECT_EQ(card.allocated_at[0].number, 1u);
  EXPECT_EQ(card.allocated_at[1].place, "train.py:118");
  EXPECT_FALSE(card.allocated_at[2].own);
  EXPECT_EQ(card.allocated_at[2].number, 0u) << "innermost first";
  const std::string text = card.ToText();
  EXPECT_LT(text.find("functional.py:9"), text.find("train.py:32")) << "copied as it was recorded";
}

TEST_F(BlockCardTest, TheLargestTensorThatLiesInTheBlockIsItsTensor) {
  s.Op("aten::mm", [&] {
    s.Alloc("y", 4096);
    const auto tensor = [&](const std::string& shape, uint64_t dtype, uint64_t offset = 0) {
      s.Event(EventType::kOpTensor, {1, 0, 77, s.AddressOf("y"), offset, s.trace().Intern(shape), 0, dtype});
    };
    tensor("8,32", 6);          // a view of a quarter
    tensor("8,128", 6);         // all of it
    tensor("4,8,128", 6);       // expanded: more elements than the block has
    tensor("8,128", 15, 1024);  // a later part, as bfloat16
  });
  const BlockCard card = CardOf("y");
  EXPECT_EQ(ValueOf(card, "Tensor"), "[8, 128] float32");
}

TEST(TypeNameTest, UnknownTypesKeepTheirNumber) {
  EXPECT_EQ(TypeName(15), "bfloat16");
  EXPECT_EQ(TypeName(24), "float8_e4m3fn");
  EXPECT_EQ(TypeName(99), "type 99");
}

}  // namespace
}  // namespace vramscope::viewer
