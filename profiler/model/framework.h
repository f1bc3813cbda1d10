// SPDX-License-Identifier: Apache-2.0
// A table of the supported frameworks (PyTorch, TensorFlow, JAX). For each framework it contains the name in
// a trace, the terms that users of the framework know, and the analyses that are possible.
//
// All other analysis code reads this table, and never compares the name of a framework.
#pragma once

#include "profiler/model/source.h"

namespace vramscope::model {

enum class AllocatorModel : uint8_t { kPyTorch, kBfc };

struct Framework {
  const char* name;         // such as "TensorFlow"
  const char* version_key;  // key in the metadata of a trace, such as "tensorflow.version"
  AllocatorModel allocator;

  // One term in two forms: `name` stands alone ("JAX, free"), and `clause` is part of a sentence, such as
  // "are free inside ..." after a number of bytes.
  struct Words {
    const char* name;
    const char* clause;
  };
  Words allocated;  // blocks of the framework's allocator
  Words cached;     // free memory inside the allocator's segments
  Words beside;     // memory that the framework's libraries take outside the allocator

  // Terms for two categories.
  Words parameters;
  Words optimizer_state;
  const char* by_parameter;  // heading: "By parameter, with its gradient ..."

  bool has_deep_steps;  // operators, shapes and stacks are recorded in some steps only
  // The reason why no change to the program can be predicted; the text may follow "FILE: ". nullptr if
  // changes can be predicted.
  const char* no_prediction;
  // Example of a change that `vramscope try` can make to a program of this framework.
  struct Example {
    const char* lever;
    const char* value;
  };
  Example example;
};

// Returns the framework that the trace's metadata names. If several are named, returns the first in the
// table. If none is named, returns PyTorch.
[[nodiscard]] const Framework& FrameworkOf(const Source& source);
[[nodiscard]] const Framework& PyTorch();

}  // namespace vramscope::model
