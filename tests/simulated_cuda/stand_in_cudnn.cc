// SPDX-License-Identifier: Apache-2.0
// A stand-in for the real libcudnn.so.9, to test the queries to cuDNN without its half gigabyte. Its
// descriptors and entry points are those of the simulated cuDNN. Its answers are made up, so that they show
// what has reached it:
//
//   engine 5         states that it converts its inputs down, which PyTorch does not accept
//   engine 9         needs 4096 bytes for each unit of the device's version: 860 on compute capability 8.6
//   engines 10 to 29 need more, the last one twice as much; with so many, engine 9 cannot win by luck
//
// The fallback list has only engine 9. A convolution of 13 channels is a bug that ends the process.
#include <cstdlib>
#include <cstring>
#include <string>

#include "injector/simulated_cuda/abi.h"
#include "injector/simulated_cuda/libraries/cudnn_plans.h"

namespace vramscope::simulated::cudnn {
namespace {

constexpr int kDownConvertNote = 1;  // CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS
constexpr int kNumericalNoteType = 11;
constexpr int kFallbackMode = 2;
constexpr int64_t kFatalChannels = 13;
constexpr int64_t kMore = 20;

// 0 where no device was set.
int64_t VersionOf(const Descriptor& asked) {
  const Descriptor* const device = asked.Child(kHeuristicsDevice);
  const Attribute* const json = device != nullptr ? device->Find(kDeviceJson) : nullptr;
  if (json == nullptr) return 0;
  const std::string text(json->bytes.begin(), json->bytes.end());
  constexpr char kKey[] = "\"deviceVer\":";
  const size_t key = text.find(kKey);
  return key == std::string::npos ? 0 : std::atoll(text.c_str() + key + sizeof(kKey) - 1);
}

bool HasFatalTensor(const Descriptor& graph) {
  for (const Descriptor* const operation : graph.Children(kGraphOperations)) {
    for (const auto& [name, attribute] : operation->attributes()) {
      for (const Descriptor* const tensor : operation->Children(name)) {
        const std::vector<int64_t> sizes = tensor->Int64s(kTensorSizes);
        if (sizes.size() == 4 && sizes[1] == kFatalChannels) return true;
      }
    }
  }
  return false;
}

OwnDescriptor Configuration(int64_t index, int64_t workspace) {
  OwnDescriptor configuration(new Descriptor(kEngineConfiguration));
  const OwnDescriptor engine(new Descriptor(kEngine));
  engine->SetInt64(kEngineIndex, index);
  if (index == 5) engine->Set(kEngineNumericalNotes, kNumericalNoteType, 1, &kDownConvertNote);
  Descriptor* const named = engine.get();
  configuration->Set(kConfigurationEngine, kDescriptor, 1, &named);
  configuration->SetInt64(kConfigurationWorkspace, workspace);
  return configuration;
}

int AnswerHeuristics(Descriptor& heuristics) {
  const Descriptor* const graph = heuristics.Child(kHeuristicsGraph);
  const int64_t bytes = VersionOf(heuristics) * 4096;
  if (graph == nullptr || bytes == 0) return kBadParameter;
  if (HasFatalTensor(*graph)) std::abort();
  int mode = 0;
  if (const Attribute* const asked = heuristics.Find(kHeuristicsMode))
    std::memcpy(&mode, asked->bytes.data(), sizeof(mode));
  std::vector<OwnDescriptor> owned;
  if (mode != kFallbackMode) owned.push_back(Configuration(5, 1));
  owned.push_back(Configuration(9, bytes));
  for (int64_t more = 1; more <= kMore && mode != kFallbackMode; ++more)
    owned.push_back(Configuration(9 + more, bytes + bytes * more / kMore));
  std::vector<Descriptor*> results;
  for (const OwnDescriptor& configuration : owned) results.push_back(configuration.get());
  heuristics.Set(kHeuristicsResults, kDescriptor, static_cast<int64_t>(results.size()), results.data());
  return kOk;
}

}  // namespace

int Finalize(Descriptor& descriptor) {
  return descriptor.kind() == kEngineHeuristics ? AnswerHeuristics(descriptor) : kOk;
}
void DescribeAsJson(Descriptor&) {}
int Execute(Descriptor&) { return kNotSupported; }

}  // namespace vramscope::simulated::cudnn

SIMULATED_EXPORT size_t cudnnGetVersion() { return 92600; }
