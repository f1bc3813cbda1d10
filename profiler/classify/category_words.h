// SPDX-License-Identifier: Apache-2.0
// The name and plural of a category in the words of a framework. For example, a parameter is a "variable" in
// TensorFlow.
#pragma once

#include "profiler/classify/category.h"
#include "profiler/model/framework.h"

namespace vramscope::classify {

[[nodiscard]] model::Framework::Words WordsOf(Category category, const model::Framework& framework);

}  // namespace vramscope::classify
