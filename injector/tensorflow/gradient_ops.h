// SPDX-License-Identifier: Apache-2.0
// Labels blocks as gradients if they are the output of a gradient operator, in functions that TensorFlow
// compiled to a graph (tf.function).
//
// Python code sees such a gradient only while TensorFlow traces the function. The Python shim then reports
// the name of the operator. At run time, the hook compares these names with the name of the allocating
// operator.
#pragma once

#include <cstdint>

#include "injector/tensorflow/annotation.h"

namespace vramscope::injector::tensorflow {

// Adds an operator that computes the gradient of `variable`. `operator_name` is the name in the graph; only
// the part from "gradient_tape/" on is compared. `name` is the string id of the variable's name. Takes a
// lock. At most 16,384 operators are stored.
void AddGradientOp(const char* operator_name, uint32_t name, uint64_t variable);

// If the operator computes a gradient, labels the block that it just allocated.
void LabelIfGradient(const Annotation& annotation, const void* block, uint64_t bytes);

}  // namespace vramscope::injector::tensorflow
