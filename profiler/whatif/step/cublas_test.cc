// SPDX-License-Identifier: Apache-2.0
// Oracle: parseChosenWorkspaceSize() of PyTorch 2.15, aten/src/ATen/cuda/CublasHandlePool.cpp.
#include "profiler/whatif/step/cublas.h"

#include <gtest/gtest.h>

#include "profiler/whatif/step/recorded_steps.h"

namespace vramscope::whatif {
namespace {

uint64_t Workspace(const char* variable) {
  Step step;
  step.torch_version = "2.15.0";
  step.cublas = variable;
  EXPECT_EQ(WorkspaceOfProducts(step).bytes, ConfiguredWorkspace(step)) << "of a step that shows none";
  return ConfiguredWorkspace(step);
}

TEST(CublasTest, TheVariableHasSizesAndHowOftenTheyAreThere) {
  EXPECT_EQ(Workspace(":4096:8"), 32u << 20);  // some packages set this on import
  EXPECT_EQ(Workspace(":16:8"), 128u << 10);
  EXPECT_EQ(Workspace(":4096:2:16:8"), kCublas);
  EXPECT_EQ(Workspace(":0:0"), 0u);
}

TEST(CublasTest, WhatElseStandsInItIsPassedOver) {
  EXPECT_EQ(Workspace("a:1:2b:3:4c:5"), (2u + 12u) << 10);
  EXPECT_EQ(Workspace(":7::1:2"), 2u << 10);
}

TEST(CublasTest, WithoutOneItIsTheReleasesOwn) {
  for (const char* variable : {"", "none", ":4096", ":4096:", "::"}) EXPECT_EQ(Workspace(variable), kCublas);
}

TEST(CublasTest, WhatTheProgramHasSetCountsMoreThanWhatItWasStartedWith) {
  Step step;
  TakeFacts({{"env.CUBLAS_WORKSPACE_CONFIG", ":16:8"}}, step);
  EXPECT_EQ(step.cublas, ":16:8");
  TakeFacts({{"env.CUBLAS_WORKSPACE_CONFIG", ":16:8"},
             {"program.cublas_workspace_config", ":4096:8"},
             {"program.pytorch_cuda_alloc_conf", "max_split_size_mb:128"}},
            step);
  EXPECT_EQ(step.cublas, ":4096:8");
  EXPECT_EQ(step.settings, "max_split_size_mb:128");
}

}  // namespace
}  // namespace vramscope::whatif
