// SPDX-License-Identifier: Apache-2.0
// Compares the model with cuDNN 9.26's own answer (its first choice) for a convolution of ResNet: 32 x 64 x
// 56 x 56, 3 x 3, padding 1.
#include "injector/simulated_cuda/libraries/cudnn_model.h"

#include <gtest/gtest.h>

#include <array>

namespace vramscope::simulated::cudnn {
namespace {

constexpr int kFloat = 0, kHalf = 2, kInt8 = 3;
using Sizes = std::array<int64_t, 4>;

struct Shape {
  Sizes x = {32, 64, 56, 56}, w = {64, 64, 3, 3}, y = {32, 64, 56, 56};
};

OwnDescriptor Tensor(const Sizes& sizes, int type, bool channels_last) {
  OwnDescriptor tensor(new Descriptor(kTensor));
  const auto [n, c, h, w] = sizes;
  const Sizes strides = channels_last ? Sizes{c * h * w, 1, c * w, c} : Sizes{c * h * w, h * w, w, 1};
  tensor->Set(kTensorType, 1, 1, &type);
  tensor->Set(kTensorSizes, kInt64, 4, sizes.data());
  tensor->Set(kTensorStrides, kInt64, 4, strides.data());
  return tensor;
}

OwnDescriptor Graph(int kind, int type, bool channels_last, const Shape& shape = {}) {
  const std::array<int, 3> names = kind == kConvolutionForward        ? std::array{704, 703, 705}
                                   : kind == kConvolutionBackwardData ? std::array{710, 709, 711}
                                                                      : std::array{716, 715, 717};
  const OwnDescriptor operation(new Descriptor(kind));
  size_t next = 0;
  for (const Sizes& sizes : {shape.x, shape.w, shape.y}) {
    const OwnDescriptor tensor = Tensor(sizes, type, channels_last);
    Descriptor* const named = tensor.get();
    operation->Set(names[next++], kDescriptor, 1, &named);
  }
  OwnDescriptor graph(new Descriptor(kOperationGraph));
  Descriptor* const named = operation.get();
  graph->Set(kGraphOperations, kDescriptor, 1, &named);
  return graph;
}

int64_t Workspace(int kind, int type, bool channels_last, int capability, const Shape& shape = {}) {
  return ModelWorkspace(*Graph(kind, type, channels_last, shape), kTensorCoreEngine, capability);
}

struct Measured {
  const char* gpu;
  int capability, kind, type;
  bool channels_last;
  int64_t bytes;
};

constexpr Measured kMeasured[] = {
    {"rtx-3060", 86, kConvolutionForward, kFloat, false, 25837584},
    {"rtx-3060", 86, kConvolutionBackwardFilter, kFloat, false, 52412843},
    {"rtx-3060", 86, kConvolutionForward, kHalf, false, 25763856},
    {"rtx-3060", 86, kConvolutionBackwardData, kHalf, false, 25763856},
    {"rtx-3060", 86, kConvolutionBackwardFilter, kHalf, false, 26796495},
    {"rtx-3060", 86, kConvolutionForward, kHalf, true, 0},
    {"rtx-3060", 86, kConvolutionBackwardData, kHalf, true, 0},
    {"h100-80gb", 90, kConvolutionForward, kFloat, false, 25837584},
    {"h100-80gb", 90, kConvolutionBackwardData, kFloat, false, 51527827},
    {"h100-80gb", 90, kConvolutionBackwardFilter, kFloat, false, 51822803},
    {"h100-80gb", 90, kConvolutionForward, kHalf, false, 25763987},
    {"h100-80gb", 90, kConvolutionForward, kHalf, true, 131},
    {"h100-80gb", 90, kConvolutionBackwardFilter, kHalf, true, 295107},
};

TEST(CudnnModelTest, IsNearWhatCudnnSays) {
  constexpr double kTensors = 25690112.0 * 2;
  for (const Measured& row : kMeasured) {
    const int64_t bytes = Workspace(row.kind, row.type, row.channels_last, row.capability);
    EXPECT_NEAR(static_cast<double>(bytes), static_cast<double>(row.bytes), 0.03 * kTensors)
        << row.gpu << " kind " << row.kind << " type " << row.type << " last " << row.channels_last;
  }
}

TEST(CudnnModelTest, ChannelsArePaddedToWholeVectors) {
  const Shape first = {{64, 3, 224, 224}, {64, 3, 7, 7}, {64, 64, 112, 112}};
  constexpr int64_t kPaddedX = int64_t{64} * 8 * 224 * 224 * 2, kY = int64_t{64} * 64 * 112 * 112 * 2;
  EXPECT_EQ(Workspace(kConvolutionBackwardFilter, kHalf, true, 80, first), kPaddedX)
      << "cuDNN: 51.7 MiB on an A100, its own sums among them";
  EXPECT_EQ(Workspace(kConvolutionBackwardFilter, kHalf, false, 80, first),
            kPaddedX + kY + 64 * 8 * 7 * 7 * 2);
}

TEST(CudnnModelTest, NothingIsNeededWhereTensorCoresAreNotUsed) {
  EXPECT_EQ(ModelWorkspace(*Graph(kConvolutionForward, kFloat, false), kPlainEngine, 90), 0);
  EXPECT_EQ(Workspace(kConvolutionForward, kFloat, false, 75), 0) << "TF32 begins with 8.0";
  EXPECT_EQ(Workspace(kConvolutionForward, kHalf, false, 70), 0);
  EXPECT_EQ(Workspace(kConvolutionForward, kInt8, false, 90), 0);
  const Shape depthwise = {{32, 64, 56, 56}, {64, 1, 3, 3}, {32, 64, 56, 56}};
  EXPECT_EQ(Workspace(kConvolutionForward, kHalf, false, 90, depthwise), 0);
  EXPECT_EQ(ModelWorkspace(*OwnDescriptor(new Descriptor(kOperationGraph)), kTensorCoreEngine, 90), 0);
}

std::vector<int64_t> Proposed(int type, int mode, int capability) {
  const OwnDescriptor heuristics(new Descriptor(kEngineHeuristics)),
      graph = Graph(kConvolutionForward, type, false);
  Descriptor* const named = graph.get();
  heuristics->Set(kHeuristicsGraph, kDescriptor, 1, &named);
  heuristics->Set(kHeuristicsMode, 8, 1, &mode);
  ProposeModelEngines(*heuristics, capability);
  std::vector<int64_t> engines;
  for (const Descriptor* const configuration : heuristics->Children(kHeuristicsResults)) {
    const Descriptor* const engine = configuration->Child(kConfigurationEngine);
    engines.push_back(engine->Int64(kEngineIndex, -1));
    EXPECT_EQ(engine->Find(kEngineNumericalNotes) != nullptr, engines.back() == kTensorCoreEngine);
  }
  return engines;
}

TEST(CudnnModelTest, TensorCoresComeFirstAndAreNoFallback) {
  constexpr int kInstant = 0, kFallback = 2;
  EXPECT_EQ(Proposed(kFloat, kInstant, 80), (std::vector<int64_t>{kTensorCoreEngine, kPlainEngine}));
  EXPECT_EQ(Proposed(kFloat, kInstant, 75), (std::vector<int64_t>{kPlainEngine}));
  EXPECT_EQ(Proposed(kFloat, kFallback, 80), (std::vector<int64_t>{kPlainEngine}));
}

}  // namespace
}  // namespace vramscope::simulated::cudnn
