// SPDX-License-Identifier: Apache-2.0
// For tests: a script (model::testing::Script) whose operators receive float32 tensors. Each tensor begins at
// the start of its block.
#pragma once

#include <string>

#include "profiler/model/testing/script.h"

namespace vramscope::whatif {

class TensorScript {
 public:
  model::testing::Script s;

 protected:
  // `tensor` is a number that distinguishes tensors of the same block.
  static constexpr uint64_t kFirstTensor = 7;
  void In(const std::string& block, const char* shape, const char* strides, uint64_t position = 0,
          uint64_t tensor = kFirstTensor) {
    Tensor(block, shape, strides, 0, position, tensor);
  }
  void Out(const std::string& block, const char* shape, const char* strides, uint64_t tensor = kFirstTensor) {
    Tensor(block, shape, strides, trace::kTensorIsOutput, 0, tensor);
  }

 private:
  void Tensor(const std::string& block, const std::string& shape, const std::string& strides, uint64_t flags,
              uint64_t position, uint64_t tensor) {
    constexpr uint64_t kFloat32 = 6;
    const model::Run now = s.Load();
    const uint64_t address = now.blocks[s.Id(block)].address;
    s.Event(trace::EventType::kOpTensor, {flags, position, address + tensor, address, 0,
                                          s.trace().Intern(shape), s.trace().Intern(strides), kFloat32});
  }
};

}  // namespace vramscope::whatif
