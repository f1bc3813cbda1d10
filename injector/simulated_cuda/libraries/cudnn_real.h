// SPDX-License-Identifier: Apache-2.0
// The real cuDNN, as far as it answers without a GPU.
//
// Since 9.8, cuDNN accepts a device described as JSON instead of a real one (deviceless ahead-of-time
// compilation; docs.nvidia.com/deeplearning/cudnn, "Deviceless Ahead-of-time Compilation", and
// CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION in cudnn_graph.h). Its heuristics then return the engines for
// that GPU, and a finalized plan knows its workspace. CUDA's driver is never called.
#pragma once

#include <string>
#include <vector>

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

inline constexpr size_t kFirstDeviceless = 90800;  // cudnnGetVersion

class RealCudnn {
 public:
  // `library` is a file. `*version` is the version it reports, 0 if it cannot be loaded.
  RealCudnn(const char* library, const char* device_json, size_t* version);
  RealCudnn(const RealCudnn&) = delete;
  RealCudnn& operator=(const RealCudnn&) = delete;

  // Finalizes `question` (heuristics, an engine or an execution plan) with everything it refers to. Returns
  // cuDNN's status. On success `answer`, of the same kind, gets the attributes that cuDNN sets.
  int Finalize(const Descriptor& question, Descriptor& answer);

 private:
  using Backend = void*;  // cudnnBackendDescriptor_t

  // Both store the first status other than success in status_.
  Backend Rebuild(const Descriptor& descriptor);
  void SetAttributes(Backend backend, const Descriptor& descriptor);
  Backend Make(int kind);
  bool Read(Backend from, int name, int type, int64_t capacity, std::vector<unsigned char>* elements);
  std::vector<Backend> ReadDescriptors(Backend from, int name, int kind, int64_t capacity);
  void CopyAttribute(Backend from, int name, int type, int64_t capacity, Descriptor& to);

  void DescribeEngine(Backend engine, Descriptor& answer);
  void DescribeConfiguration(Backend configuration, Descriptor& answer);
  void DescribeHeuristics(Backend heuristics, Descriptor& answer);

  int (*create_)(int, Backend*) = nullptr;
  int (*destroy_)(Backend) = nullptr;
  int (*finalize_)(Backend) = nullptr;
  int (*set_)(Backend, int, int, int64_t, const void*) = nullptr;
  int (*get_)(Backend, int, int, int64_t, int64_t*, void*) = nullptr;
  Backend device_ = nullptr;
  int status_ = 0;
  std::map<const Descriptor*, Backend> rebuilt_;
  std::vector<Backend> made_;  // for this question
};

}  // namespace vramscope::simulated::cudnn
