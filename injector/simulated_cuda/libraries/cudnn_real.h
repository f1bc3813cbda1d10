// SPDX-License-Identifier: Apache-2.0
// Calls the functions of the real cuDNN that work without a GPU.
//
// Since version 9.8, cuDNN accepts a device that is described as JSON (docs.nvidia.com/deeplearning/cudnn,
// "Deviceless Ahead-of-time Compilation"; CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION in cudnn_graph.h). Its
// heuristics then return the engines for that GPU, and its plans contain the sizes of their workspaces.
#pragma once

#include <string>
#include <vector>

#include "injector/simulated_cuda/libraries/cudnn_descriptor.h"

namespace vramscope::simulated::cudnn {

inline constexpr size_t kFirstDeviceless = 90800;  // as returned by cudnnGetVersion

class RealCudnn {
 public:
  // Loads the file `library`. Stores its version in `*version`, or 0 if the file cannot be loaded.
  RealCudnn(const char* library, const char* device_json, size_t* version);
  RealCudnn(const RealCudnn&) = delete;
  RealCudnn& operator=(const RealCudnn&) = delete;

  // Finalizes `question` (heuristics, an engine or a plan) and all descriptors that it refers to. Returns
  // cuDNN's status. On success, stores the attributes that cuDNN set in `answer`.
  int Finalize(const Descriptor& question, Descriptor& answer);

 private:
  using Backend = void*;  // cudnnBackendDescriptor_t

  // The next two functions store the first error in status_.
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
  std::vector<Backend> made_;  // created for this question
};

}  // namespace vramscope::simulated::cudnn
