// SPDX-License-Identifier: Apache-2.0
#include "injector/simulated_cuda/libraries/cudnn_model.h"

#include <cstring>

namespace vramscope::simulated::cudnn {
namespace {

constexpr int kFallbackMode = 2;    // CUDNN_HEUR_MODE_FALLBACK
constexpr int kTensorCoreNote = 0;  // CUDNN_NUMERICAL_NOTE_TENSOR_CORE
constexpr int kNumericalNoteType = 11;
constexpr int64_t kVectorBytes = 16;

// cudnnDataType_t
constexpr int kFloat = 0;
constexpr int kHalf = 2;
constexpr int kBfloat16 = 9;

int EnumOf(const Descriptor& descriptor, int name, int otherwise) {
  const Attribute* const found = descriptor.Find(name);
  int value = otherwise;
  if (found != nullptr && found->bytes.size() == sizeof(value))
    std::memcpy(&value, found->bytes.data(), sizeof(value));
  return value;
}

struct Operands {
  int x, w, y;  // attribute names
};

Operands OperandsOf(int kind) {
  return kind == kConvolutionForward        ? Operands{704, 703, 705}
         : kind == kConvolutionBackwardData ? Operands{710, 709, 711}
                                            : Operands{716, 715, 717};
}

struct Convolution {
  int kind = 0;  // 0: not an operation that tensor cores support
  int type = kFloat;
  bool channels_last = false;
  int64_t x = 0, w = 0, y = 0;  // bytes with padded channels
  bool x_padded = false, y_padded = false;
};

int64_t Elements(const std::vector<int64_t>& sizes) {
  int64_t elements = 1;
  for (const int64_t size : sizes) elements *= size;
  return elements;
}

int64_t Padded(int64_t channels, int64_t element_bytes) {
  const int64_t vector = kVectorBytes / element_bytes;
  return (channels + vector - 1) / vector * vector;
}

Convolution ConvolutionOf(const Descriptor& graph) {
  Convolution none;
  const Descriptor* const operation = graph.Child(kGraphOperations);
  if (operation == nullptr) return none;
  Convolution found;
  found.kind = operation->kind();
  if (found.kind < kConvolutionForward || found.kind > kConvolutionBackwardData) return none;
  const Operands names = OperandsOf(found.kind);
  const Descriptor* const x = operation->Child(names.x);
  const Descriptor* const w = operation->Child(names.w);
  const Descriptor* const y = operation->Child(names.y);
  if (x == nullptr || w == nullptr || y == nullptr) return none;
  const std::vector<int64_t> x_sizes = x->Int64s(kTensorSizes), x_strides = x->Int64s(kTensorStrides);
  const std::vector<int64_t> w_sizes = w->Int64s(kTensorSizes), y_sizes = y->Int64s(kTensorSizes);
  if (x_sizes.size() < 3 || x_strides.size() != x_sizes.size() || w_sizes.size() != x_sizes.size() ||
      y_sizes.size() != x_sizes.size())
    return none;
  const int64_t channels = x_sizes[1], outputs = w_sizes[0];
  if (channels <= 0 || outputs <= 0 || w_sizes[1] != channels) return none;  // groups
  found.type = EnumOf(*x, kTensorType, kFloat);
  found.channels_last = channels > 1 && x_strides[1] == 1;
  const int64_t bytes = found.type == kFloat ? 4 : 2;
  const int64_t padded_channels = Padded(channels, bytes), padded_outputs = Padded(outputs, bytes);
  found.x = Elements(x_sizes) / channels * padded_channels * bytes;
  found.y = Elements(y_sizes) / outputs * padded_outputs * bytes;
  found.w = Elements(w_sizes) / channels / outputs * padded_channels * padded_outputs * bytes;
  found.x_padded = padded_channels != channels;
  found.y_padded = padded_outputs != outputs;
  return found;
}

bool UsesTensorCores(const Convolution& convolution, int capability) {
  if (convolution.kind == 0) return false;
  if (convolution.type == kHalf) return capability >= 75;
  return (convolution.type == kFloat || convolution.type == kBfloat16) && capability >= 80;
}

int64_t HalfWorkspace(const Convolution& convolution) {
  if (!convolution.channels_last) return convolution.x + convolution.w + convolution.y;
  const int64_t w = convolution.kind == kConvolutionBackwardFilter ? 0 : convolution.w;
  return (convolution.x_padded ? convolution.x + w : 0) + (convolution.y_padded ? convolution.y : 0);
}

int64_t Tf32Workspace(const Convolution& convolution, int capability) {
  const auto& [kind, type, channels_last, x, w, y, x_padded, y_padded] = convolution;
  if (!channels_last) return kind == kConvolutionForward ? x + w : x + w + y;
  if (capability >= 90 && capability < 120) return 0;
  return kind == kConvolutionForward ? x + w : kind == kConvolutionBackwardData ? w + y : x + y;
}

OwnDescriptor MakeConfiguration(ModelEngine index, int64_t workspace) {
  OwnDescriptor configuration(new Descriptor(kEngineConfiguration));
  const OwnDescriptor engine(new Descriptor(kEngine));
  engine->SetInt64(kEngineIndex, index);
  if (index == kTensorCoreEngine) engine->Set(kEngineNumericalNotes, kNumericalNoteType, 1, &kTensorCoreNote);
  Descriptor* const named = engine.get();
  configuration->Set(kConfigurationEngine, kDescriptor, 1, &named);
  configuration->SetInt64(kConfigurationWorkspace, workspace);
  configuration->SetInt64(kIsEstimated, 1);
  return configuration;
}

}  // namespace

void ProposeModelEngines(Descriptor& heuristics, int capability) {
  const Descriptor* const graph = heuristics.Child(kHeuristicsGraph);
  const bool is_fallback = EnumOf(heuristics, kHeuristicsMode, 0) == kFallbackMode;
  const bool has_fast =
      !is_fallback && graph != nullptr && UsesTensorCores(ConvolutionOf(*graph), capability);
  const int64_t workspace = has_fast ? ModelWorkspace(*graph, kTensorCoreEngine, capability) : 0;
  const OwnDescriptor fast = MakeConfiguration(kTensorCoreEngine, workspace);
  const OwnDescriptor plain = MakeConfiguration(kPlainEngine, 0);
  std::vector<Descriptor*> results;
  if (has_fast) results.push_back(fast.get());
  results.push_back(plain.get());
  heuristics.Set(kHeuristicsResults, kDescriptor, static_cast<int64_t>(results.size()), results.data());
}

int64_t ModelWorkspace(const Descriptor& graph, int64_t engine, int capability) {
  const Convolution convolution = ConvolutionOf(graph);
  if (engine != kTensorCoreEngine || !UsesTensorCores(convolution, capability)) return 0;
  return convolution.type == kFloat ? Tf32Workspace(convolution, capability) : HalfWorkspace(convolution);
}

}  // namespace vramscope::simulated::cudnn
