// SPDX-License-Identifier: Apache-2.0
// A table of the frameworks: the name in a trace, the terms of its users, and the analyses that fit.
//
// The rest of the analysis reads this table and never tests for a framework.
#pragma once

#include "profiler/model/source.h"

namespace vramscope::model {

enum class AllocatorModel : uint8_t { kPyTorch, kBfc };

struct Framework {
  const char* name;         // "TensorFlow"
  const char* version_key;  // in the metadata of its traces: "tensorflow.version"
  AllocatorModel allocator;

  // A name ("JAX, free"), and a clause that follows a number ("are free inside ...").
  struct Words {
    const char* name;
    const char* clause;
  };
  Words allocated;  // blocks of its allocator
  Words cached;     // free memory inside the allocator's segments
  Words beside;     // what its libraries take outside the allocator

  // Categories: a name, and the same within a sentence.
  Words parameters;
  Words optimizer_state;
  const char* by_parameter;  // heading: "By parameter, with its gradient ..."

  bool has_deep_steps;  // operators, shapes and stacks are recorded in some steps only
  // The reason why no change can be predicted, as a clause after "FILE: ". nullptr: changes can be predicted.
  const char* no_prediction;
  // A change that `vramscope try` can make to its programs, as an example.
  struct Example {
    const char* lever;
    const char* value;
  };
  Example example;
};

// The framework that the metadata names; the first in the table if it names several; PyTorch if none.
[[nodiscard]] const Framework& FrameworkOf(const Source& source);
[[nodiscard]] const Framework& PyTorch();

}  // namespace vramscope::model
