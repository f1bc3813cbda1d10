// SPDX-License-Identifier: Apache-2.0
// A descriptor of cuDNN's graph interface: a store of attributes, some of which are descriptors.
//
// Numbers: cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and cudnnBackendAttributeType_t in
// cudnn_graph.h (all of cuDNN 9).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace vramscope::simulated::cudnn {

enum Kind : int {
  kConvolution = 1,
  kEngine = 2,
  kEngineConfiguration = 3,
  kEngineHeuristics = 4,
  kExecutionPlan = 5,
  kKnobChoice = 7,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kOperationGraph = 15,
  kTensor = 17,
  kDeviceProperties = 38,
};

enum Type : int {
  kHandle = 0,
  kBoolean = 2,
  kInt64 = 3,
  kFloat64 = 5,
  kPointer = 6,
  kDescriptor = 15,
  kInt32 = 23,
  kCharacter = 24,
  kFraction = 26,
};

enum Name : int {
  kHeuristicsMode = 200,
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kHeuristicsDevice = 204,
  kConfigurationEngine = 300,
  kConfigurationKnobs = 302,
  kConfigurationWorkspace = 303,
  kConfigurationSharedMemory = 304,
  kPlanConfiguration = 401,
  kPlanWorkspace = 402,
  kPlanJson = 405,
  kPlanDevice = 407,
  kKnobType = 600,
  kKnobValue = 601,
  kGraphOperations = 801,
  kGraphEngineCount = 802,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineBehaviorNotes = 1305,
  kEngineDevice = 1307,
  kDeviceJson = 2702,

  kIsEstimated = -2,    // ours: in a configuration that our model proposed
  kFirstExecuted = -1,  // ours: in a graph, the plan that ran first
};

// Bytes of one element: 4 for enumerations, 8 for descriptors and pointers.
size_t BytesOf(int type);

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<unsigned char> bytes;
};

// A descriptor counts its owners: its creator, and every descriptor that refers to it. Only the count is
// thread-safe.
class Descriptor {
 public:
  explicit Descriptor(int kind) : kind_(kind) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int kind() const { return kind_; }
  [[nodiscard]] const std::map<int, Attribute>& attributes() const { return attributes_; }

  void Set(int name, int type, int64_t count, const void* elements);
  void SetInt64(int name, int64_t value) { Set(name, kInt64, 1, &value); }
  // Copies the attributes of `other`. Shares descriptors.
  void CopyFrom(const Descriptor& other);

  // nullptr if never set.
  [[nodiscard]] const Attribute* Find(int name) const;
  // Empty if never set, or not descriptors.
  [[nodiscard]] std::vector<Descriptor*> Children(int name) const;
  [[nodiscard]] Descriptor* Child(int name) const;  // the first; nullptr if there is none
  [[nodiscard]] std::vector<int64_t> Int64s(int name) const;
  [[nodiscard]] int64_t Int64(int name, int64_t otherwise) const;

  void Keep() { owners_.fetch_add(1, std::memory_order_relaxed); }
  // The last owner's call deletes it.
  void Release();

 private:
  ~Descriptor();

  int kind_;
  std::atomic<int> owners_{1};
  std::map<int, Attribute> attributes_;
};

struct Released {
  void operator()(Descriptor* descriptor) const { descriptor->Release(); }
};
using OwnDescriptor = std::unique_ptr<Descriptor, Released>;

}  // namespace vramscope::simulated::cudnn
