// SPDX-License-Identifier: Apache-2.0
// Finds the names of blocks: "layers.0.weight" for a parameter and its gradient, "exp_avg of layers.0.weight"
// for optimizer state.
//
// Labels that come from autograd have no name, but they contain the identity of their tensor. By this
// identity, a gradient gets the name of its parameter.
//
//   label (module hooks)    block A, "layers.0.weight", tensor T
//   label (AccumulateGrad)  block A, no name,           tensor T
//   label (AccumulateGrad)  block B, gradient,          tensor T     -> B is called "layers.0.weight"
#pragma once

#include <string_view>
#include <vector>

#include "profiler/model/run.h"

namespace vramscope::classify {

class Names {
 public:
  explicit Names(const model::Run& run);

  // Returns the block's name, or "" if no label names it. The result is valid as long as the run exists.
  [[nodiscard]] std::string_view Of(model::BlockId block) const;

 private:
  // From `event` on, `tensor` of `process` is called `name`.
  struct TensorName {
    model::ProcessIndex process = 0;
    uint64_t tensor = 0;
    model::EventIndex event = 0;
    uint32_t name = 0;
  };
  static constexpr uint64_t kAnyTensor = ~uint64_t{0};
  // Returns the best name in the block's labels for `tensor`. With kAnyTensor, all labels of the block are
  // searched. Returns 0 if there is no name.
  [[nodiscard]] uint32_t NameInLabels(model::BlockId block, uint64_t tensor) const;
  [[nodiscard]] uint32_t NameOfTensor(const model::Label& label) const;

  const model::Run& run_;
  std::vector<TensorName> tensors_;  // sorted by process, tensor, event
};

// Returns the module part of a name: "layers.0" for "layers.0.weight" and for "exp_avg of layers.0.weight".
// Returns "" for a parameter of the top module.
[[nodiscard]] std::string_view ModuleOfName(std::string_view name);
// Returns the parameter part of a name: "layers.0.weight" for "exp_avg of layers.0.weight".
[[nodiscard]] std::string_view ParameterOfName(std::string_view name);

}  // namespace vramscope::classify
