// SPDX-License-Identifier: Apache-2.0
// A table of the frameworks of recorded programs: the name of each in a trace, the terms that its users know,
// and the analyses that fit it.
//
// Why a table: a reader of a TensorFlow run looks for variables and slots, and advice about PyTorch's
// settings misleads. The rest of the analysis never tests which framework it is.
#pragma once

#include "profiler/model/source.h"

namespace vramscope::model {

// The allocators that profiler/allocator has models of.
enum class AllocatorModel : uint8_t { kPyTorch, kBfc };

struct Framework {
  const char* name;         // "TensorFlow"
  const char* version_key;  // in the metadata of its traces: "tensorflow.version"
  AllocatorModel allocator;

  // Rows of a device's memory: a name, and a clause that follows a number.
  struct Words {
    const char* name;
    const char* clause;
  };
  Words allocated;  // blocks of its allocator
  Words cached;     // free memory inside the allocator's segments
  Words beside;     // what its libraries take outside the allocator

  // Categories: a name, and a plural in a sentence.
  Words parameters;
  Words optimizer_state;
  const char* by_parameter;  // heading: a parameter with what belongs to it

  bool has_deep_steps;  // operators, shapes and stacks are recorded in some steps only
  // Why no change to a program can be predicted, as a clause after "FILE: "; nullptr if changes can be
  // predicted.
  const char* no_prediction;
  bool has_try;  // `vramscope try` can change its programs
};

// The framework that the source's metadata names; PyTorch if it names none; the first of
// the table if it names several.
[[nodiscard]] const Framework& FrameworkOf(const Source& source);
[[nodiscard]] const Framework& PyTorch();

}  // namespace vramscope::model
