// SPDX-License-Identifier: Apache-2.0
// The linear layers of a recorded step: nn.Linear, and Conv1D of transformers, by what they did.
//
// Why by what they did: a trace has the names of modules, not their classes. A linear layer is a module whose
// call multiplied what it was given by one parameter of its own, and nothing else:
//
//   layers.0.wide      x [tokens, in]  ──mm──  weight [in, out] of layers.0.wide  ──▶  y [tokens, out]
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiler/whatif/step/step.h"

namespace vramscope::whatif {

struct LinearCall {
  std::string_view path;           // of the module
  uint32_t call = model::kNone;    // into Step::modules; kNone: the step does not call it
  uint32_t matmul = model::kNone;  // aten::mm or aten::addmm, into Step::ops
  uint32_t weight = model::kNone;  // blocks
  uint32_t bias = model::kNone;    // kNone: it has none
  uint32_t input = model::kNone;   // kNone, also the output: it has no elements, `tokens` is 0
  uint32_t output = model::kNone;
  Operand given;  // the input as the module got it
  Operand made;   // the output as the module returns it
  int64_t tokens = 0, in = 0, out = 0;
  bool flat = false;  // the module's input has two dimensions
};

// Of forward, in order; in modules that `patterns` name ("layers.*,head"), or where that is empty inside the
// model's blocks, and in a model without blocks everywhere. A weight that other modules use too is left out:
// what becomes of it is not the layer's alone to say. `shared` gets the paths of those that were left out so.
[[nodiscard]] std::vector<LinearCall> LinearCalls(const Step& step, std::string_view patterns,
                                                  std::vector<std::string>* shared = nullptr);

// Linear layers in modules that `patterns` name as above, which the step does not call: they are quantized
// and adapted all the same. Such a layer is told by its parameters, which are as large as those of one that
// was `called`. They have no call and no operator; of `given` the type alone. O((blocks + operands + modules)
// log).
[[nodiscard]] std::vector<LinearCall> UncalledLinears(const Step& step, const std::vector<LinearCall>& called,
                                                      std::string_view patterns);

// When the last of its own parameters was made, before 0; kBefore where that is not known.
[[nodiscard]] Position SetUpAt(const Step& step, const LinearCall& linear);

}  // namespace vramscope::whatif
