// SPDX-License-Identifier: Apache-2.0
// Layers that write keys into an object which later ones take them from, as Gemma3n's do, and are
// checkpointed. The oracle is torch/utils/checkpoint.py: each layer is called again with what it was given,
// so that it writes into the same object.
#include "profiler/whatif/lifetimes/handed_aside.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "profiler/whatif/scene/lever.h"
#include "profiler/whatif/testing/lives.h"
#include "profiler/whatif/testing/written_operators.h"

namespace vramscope::whatif {
namespace {

using model::kNone;
using testing::ElementsAre;
using testing::IsEmpty;

// Layers from 10 to 30, from 40 to 60 and from 70 to 90, each of which calls a norm first. The second one
// writes keys; the third one takes them. Backward runs the layers' nodes from 110, 130 and 150 on.
//
//   words ─ 15: x ─ 45: keys ─ 55: y ─ 75: z                y and z are made of keys too
class HandedAsideTest : public testing::Test, protected WrittenOperators {
 protected:
  HandedAsideTest() {
    Module("model", 0, 95);
    for (uint32_t i = 0; i < 3; ++i) {
      const std::string layer = "model.layers." + std::to_string(i);
      Module(layer, 10 + 30 * i, 30 + 30 * i, 0),
          Module(layer + ".norm", 11 + 30 * i, 13 + 30 * i, 1 + 2 * i);
    }
    words_ = AddBlock(2, 156), x_ = AddBlock(15.5, 140), keys_ = AddBlock(45.5, 96);
    y_ = AddBlock(55.5, 113), z_ = AddBlock(75.5, 112);
    Made(15, {words_}, x_, 150), Made(45, {x_}, keys_, 135), Made(55, {x_, keys_}, y_, 130);
    Made(75, {y_, keys_}, z_, 110);
    Given(x_, 3), Given(y_, 5);
  }

  // By an operator whose node keeps what it is given.
  void Made(Position at, const std::vector<uint32_t>& from, uint32_t to, Position backward) {
    const uint32_t node = AddNode("Backward0", AddOp("aten::mul", kNone, {at, at + 2}, from, to), backward);
    for (const uint32_t block : from) {
      Saved saved;
      saved.block = block, saved.node = node, saved.at = at + 1, saved.released = backward + 2;
      step_.saved.push_back(saved);
    }
  }
  // The variable of a function that makes the call has it.
  void Given(uint32_t block, uint32_t call) { step_.held.push_back({block, call, Text("x")}); }

  [[nodiscard]] std::vector<uint32_t> Found(const std::vector<uint32_t>& calls = {1, 3, 5}) const {
    std::vector<uint32_t> found;
    for (const HandedAside& one : FindHandedAside(step_, calls)) found.push_back(one.block);
    return found;
  }
  [[nodiscard]] Scene Checkpointed() const {
    Scene scene = MakeScene(step_);
    EXPECT_TRUE(CheckpointLever().Apply(step_, "model.layers.*", scene).ok());
    return scene;
  }
  // The moments of the second layer's forward in its recomputation.
  static constexpr Position Again(Position at) { return 130 + 0.8 * (at - 40) / 20; }
  static constexpr Position kOver = 152;  // the first layer's nodes have let go

  uint32_t words_, x_, keys_, y_, z_;
};

TEST_F(HandedAsideTest, IsWhatNoVariableShowsAtALaterCall) {
  EXPECT_THAT(Found(), ElementsAre(keys_));
  EXPECT_THAT(Found({3, 5}), ElementsAre(keys_));
  EXPECT_THAT(Found({1, 5}), IsEmpty()) << "made outside of them";
}

TEST_F(HandedAsideTest, NotWhatTheCallIsGiven) {
  Given(keys_, 5);
  EXPECT_THAT(Found(), IsEmpty());
}

// y = second(first(x)): the second one's own variable has it.
TEST_F(HandedAsideTest, NorWhatTheCallHasWhenItBegins) {
  Given(keys_, 6);
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(HandedAsideTest, WithoutACallInItOrWithoutVariablesItIsNotKnown) {
  step_.modules.resize(6);
  EXPECT_THAT(Found(), IsEmpty());
  step_.modules.push_back({Text("model.layers.2.norm"), 5, 71, 73});
  EXPECT_THAT(Found(), ElementsAre(keys_));
  step_.held.clear();
  EXPECT_THAT(Found(), IsEmpty());
}

// Autocast's, of a weight that layers share.
TEST_F(HandedAsideTest, NorACopyOfAWeight) {
  step_.blocks[x_].begin = kBefore;
  EXPECT_THAT(Found(), IsEmpty());
}

TEST_F(HandedAsideTest, TheObjectHoldsWhatIsMadeAgainAndItsGraphWhileALayerHasIt) {
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, keys_), ElementsAre(Life(45.5, Again(45.5)), Life(Again(45.5), kOver)));
  EXPECT_THAT(LivesOf(scene, x_)[0], Life(15.5, kOver)) << "its node keeps what it was computed from";
  EXPECT_THAT(LivesOf(scene, y_)[0], Life(55.5, 112)) << "not behind it: until the last layer lets go";
}

TEST_F(HandedAsideTest, OneThatALaterLayerIsGivenGoesWithTheRecomputation) {
  Given(keys_, 5);
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, keys_)[1].second, testing::Lt(137));
  EXPECT_THAT(LivesOf(scene, keys_)[0], Life(45.5, 112));
}

// keys.type_as(x) in 16 bits: operators are said to work on the block that is gone.
TEST_F(HandedAsideTest, WhatIsConvertedForItIsTheCopyAndHasTheGraphOfBoth) {
  step_.blocks[keys_].end = 46.5;
  EXPECT_THAT(Found(), IsEmpty());
  const uint32_t copy = AddBlock(46, 96);
  step_.blocks[copy].copy_of = keys_;
  EXPECT_THAT(Found(), ElementsAre(copy));
  EXPECT_EQ(FindHandedAside(step_, {1, 3, 5})[0].named, keys_);
  const Scene scene = Checkpointed();
  EXPECT_THAT(LivesOf(scene, copy), ElementsAre(Life(46, Again(46)), Life(Again(46), kOver)));
  EXPECT_THAT(LivesOf(scene, x_)[0], Life(15.5, kOver));
}

// x = (x.float() + y).type_as(x); the next layer is given x: variables are said to hold the copy.
TEST_F(HandedAsideTest, NotACopyThatTheCallIsGiven) {
  step_.blocks[keys_].end = 46.5;
  const uint32_t copy = AddBlock(46, 96);
  step_.blocks[copy].copy_of = keys_;
  Given(copy, 5);
  EXPECT_THAT(Found(), IsEmpty());
}

// Behind the last tensor that is kept nothing runs again: the object has what forward wrote.
TEST_F(HandedAsideTest, WhatIsNotMadeAgainStaysInTheObject) {
  std::erase_if(step_.saved, [](const Saved& saved) { return saved.at == 56; });
  step_.blocks[keys_].begin = 46.5;
  EXPECT_THAT(LivesOf(Checkpointed(), keys_), ElementsAre(Life(46.5, kOver)));
}

}  // namespace
}  // namespace vramscope::whatif
