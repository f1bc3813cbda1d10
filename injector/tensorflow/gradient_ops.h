// SPDX-License-Identifier: Apache-2.0
// Finds operators whose output is the gradient of a variable, in functions that TensorFlow compiled to a
// graph.
//
// Why: Python sees such a gradient only once, as a symbol, while the function is traced. In each step the
// executor then allocates it on a thread of its own. The shim reports the operator's name when the function
// is traced; the hook compares it with the operator that allocates.
#pragma once

#include <cstdint>

#include "injector/tensorflow/annotation.h"

namespace vramscope::injector::tensorflow {

// `operator_name`: as in the graph; the part from "gradient_tape/" on is compared, because a function that
// calls another one puts a prefix before it. `name`: the variable, interned. Takes a lock. At most 16,384
// operators.
void AddGradientOp(const char* operator_name, uint32_t name, uint64_t variable);

// If the operator computes a gradient, records that the block that it has just allocated is one.
void LabelIfGradient(const Annotation& annotation, const void* block, uint64_t bytes);

}  // namespace vramscope::injector::tensorflow
