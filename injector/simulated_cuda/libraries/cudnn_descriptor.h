// SPDX-License-Identifier: Apache-2.0
// A descriptor of cuDNN's graph API (cudnnBackendDescriptor_t): a set of attributes. The value of an
// attribute may be other descriptors.
//
// The numbers below are those of cudnnBackendDescriptorType_t, cudnnBackendAttributeName_t and
// cudnnBackendAttributeType_t in cudnn_graph.h. The numbers are equal in all versions of cuDNN 9.
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

  kIsEstimated = -2,    // not cuDNN's: marks an engine configuration that our model proposed
  kFirstExecuted = -1,  // not cuDNN's: in an operation graph, the plan that was executed first
};

// Returns the bytes of one element of `type`, for example 8 for descriptors and pointers, and 4 for
// enumerations.
size_t BytesOf(int type);

struct Attribute {
  int type = 0;
  int64_t count = 0;
  std::vector<unsigned char> bytes;
};

// A descriptor counts its owners: its creator, and every descriptor that has it as an attribute. The owner
// count is thread-safe; the attributes are not.
class Descriptor {
 public:
  explicit Descriptor(int kind) : kind_(kind) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int kind() const { return kind_; }
  [[nodiscard]] const std::map<int, Attribute>& attributes() const { return attributes_; }

  void Set(int name, int type, int64_t count, const void* elements);
  void SetInt64(int name, int64_t value) { Set(name, kInt64, 1, &value); }
  // Copies the attributes of `other`. Descriptors among the values are shared, not copied.
  void CopyFrom(const Descriptor& other);

  // Returns nullptr if the attribute is not set.
  [[nodiscard]] const Attribute* Find(int name) const;
  // Returns the descriptors in an attribute. The result is empty if the attribute is not set, or if its
  // values are not descriptors.
  [[nodiscard]] std::vector<Descriptor*> Children(int name) const;
  [[nodiscard]] Descriptor* Child(int name) const;  // the first of Children; nullptr if there are none
  [[nodiscard]] std::vector<int64_t> Int64s(int name) const;
  [[nodiscard]] int64_t Int64(int name, int64_t otherwise) const;

  void Keep() { owners_.fetch_add(1, std::memory_order_relaxed); }
  // Removes one owner. The last owner's call deletes the descriptor.
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
