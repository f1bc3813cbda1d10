// SPDX-License-Identifier: Apache-2.0
// The names of blocks: "layers.0.weight" for a parameter and its gradient, "exp_avg of layers.0.weight" for
// optimizer state.
//
// Autograd's own labels have no name, but they contain the identity of their tensor. So a gradient gets the
// name of its parameter.
//
//   label (shim)            block A, "layers.0.weight", tensor T
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

  // The block's name, or "" if nothing named it. Valid while the run exists.
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
  // The best name in those of the block's labels that are about `tensor` (kAnyTensor: in all labels); 0 =
  // none.
  [[nodiscard]] uint32_t NameInLabels(model::BlockId block, uint64_t tensor) const;
  [[nodiscard]] uint32_t NameOfTensor(const model::Label& label) const;

  const model::Run& run_;
  std::vector<TensorName> tensors_;  // by process, tensor, event
};

// The module of a name: "layers.0" for "layers.0.weight" and for "exp_avg of layers.0.weight"; "" at the top
// of the model.
[[nodiscard]] std::string_view ModuleOfName(std::string_view name);
// The parameter of a name: "layers.0.weight" for "exp_avg of layers.0.weight".
[[nodiscard]] std::string_view ParameterOfName(std::string_view name);

}  // namespace vramscope::classify
