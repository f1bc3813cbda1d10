// SPDX-License-Identifier: Apache-2.0
// Finds operators whose output is the gradient of a variable, in functions that TensorFlow compiled to a
// graph.
//
// Python sees such a gradient only while the function is traced. The shim then reports the operator's name.
// The hook compares it with the allocating operator.
#pragma once

#include <cstdint>

#include "injector/tensorflow/annotation.h"

namespace vramscope::injector::tensorflow {

// `operator_name`: as in the graph, compared from "gradient_tape/" on. `name`: the variable's name, interned.
// Takes a lock. At most 16,384 operators.
void AddGradientOp(const char* operator_name, uint32_t name, uint64_t variable);

// If the operator computes a gradient, labels the block that it just allocated.
void LabelIfGradient(const Annotation& annotation, const void* block, uint64_t bytes);

}  // namespace vramscope::injector::tensorflow
