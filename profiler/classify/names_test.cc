// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/names.h"

#include <gtest/gtest.h>

#include "profiler/model/testing/script.h"

namespace vramscope::classify {
namespace {

using model::testing::Script;
using trace::LabelSource;
using trace::Role;

TEST(NamesTest, AGradientHasTheNameOfItsParameter) {
  Script s;
  s.Alloc("w", 8).Parameter("w", "fc.weight").Alloc("g", 8).Gradient("g", "w");
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("w")), "fc.weight");
  EXPECT_EQ(Names(run).Of(s.Id("g")), "fc.weight");
}

TEST(NamesTest, AnotherThreadsLabelInBetweenDoesNotConfuseTheTwo) {
  Script s;
  s.Alloc("w", 8).Parameter("w", "fc.weight").Alloc("v", 8).Parameter("v", "other.weight").Alloc("g", 8);
  const auto variable = [&](const std::string& block, uint64_t tensor) {
    s.Label(block, Role::kParameter, LabelSource::kAccumulateGrad, "", tensor);
  };
  const uint64_t w = s.trace().events()[1].field[trace::label::kTensor];
  const uint64_t v = s.trace().events()[3].field[trace::label::kTensor];
  variable("w", w);
  s.Thread("other device");
  variable("v", v);
  s.Thread("main").Label("g", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x1230);
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g")), "fc.weight");
}

TEST(NamesTest, TheNameMayComeAfterTheGradient) {
  Script s;
  s.Alloc("w", 8).Alloc("g", 8).Gradient("g", "w").Parameter("w", "fc.weight");
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g")), "fc.weight");
}

TEST(NamesTest, ANameGivenForAnotherTensorOfTheSameStorageReachesTheGradient) {
  Script s;
  s.Alloc("w", 8).Alloc("g", 8).Gradient("g", "w");
  s.Label("w", Role::kParameter, LabelSource::kModuleRegistry, "fc.weight", 0x9990);  // a detached alias
  s.Gradient("g", "w");
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g")), "fc.weight");
}

TEST(NamesTest, ATensorAddressThatIsUsedAgainNamesWhatItIsAtTheTime) {
  Script s;
  s.Alloc("first", 8).Label("first", Role::kParameter, LabelSource::kModuleRegistry, "old.weight", 0x70);
  s.Alloc("g1", 8).Label("g1", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x70).Free("first");
  s.Alloc("second", 8).Label("second", Role::kParameter, LabelSource::kModuleRegistry, "new.weight", 0x70);
  s.Alloc("g2", 8).Label("g2", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x70);
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g1")), "old.weight");
  EXPECT_EQ(Names(run).Of(s.Id("g2")), "new.weight");
}

TEST(NamesTest, TheSameTensorAddressInAnotherProcessIsAnotherTensor) {
  Script s;
  s.Alloc("w", 8).Label("w", Role::kParameter, LabelSource::kModuleRegistry, "w", 0x70);
  s.Process(200).Alloc("g", 8).Label("g", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x70);
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g")), "");
}

TEST(NamesTest, TheFullestNameWins) {
  Script s;
  s.Alloc("w", 8).Label("w", Role::kParameter, LabelSource::kRegisterBuffer, "weight", 0x70);
  s.Label("w", Role::kParameter, LabelSource::kModuleRegistry, "layers.0.weight", 0x70);
  s.Label("w", Role::kParameter, LabelSource::kModuleRegistry, "0.weight", 0x70);
  s.Alloc("g", 8).Label("g", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x70);
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("w")), "layers.0.weight");
  EXPECT_EQ(Names(run).Of(s.Id("g")), "layers.0.weight");
}

TEST(NamesTest, ViewsOfOneStorageKeepTheirOwnNamesForTheirGradients) {
  Script s;
  s.Alloc("flat", 16).Label("flat", Role::kParameter, LabelSource::kModuleRegistry, "layers.0.weight", 0x70);
  s.Label("flat", Role::kParameter, LabelSource::kModuleRegistry, "head", 0x80);
  s.Alloc("g", 8).Label("g", Role::kGradient, LabelSource::kAccumulateGrad, "", 0x80);
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("g")), "head");
}

TEST(NamesTest, OptimizerStateKeepsItsWords) {
  Script s;
  s.Alloc("m", 8).Label("m", Role::kOptimizerState, LabelSource::kOptimizer, "exp_avg of layers.0.weight");
  const auto run = s.Load();
  EXPECT_EQ(Names(run).Of(s.Id("m")), "exp_avg of layers.0.weight");
}

TEST(NamesTest, ModulesAndParametersAreReadOffTheName) {
  EXPECT_EQ(ModuleOfName("layers.0.attn.weight"), "layers.0.attn");
  EXPECT_EQ(ModuleOfName("exp_avg of layers.0.weight"), "layers.0");
  EXPECT_EQ(ModuleOfName("weight"), "");
  EXPECT_EQ(ParameterOfName("exp_avg of layers.0.weight"), "layers.0.weight");
  EXPECT_EQ(ParameterOfName("layers.0.weight"), "layers.0.weight");
}

}  // namespace
}  // namespace vramscope::classify
