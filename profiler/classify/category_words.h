// SPDX-License-Identifier: Apache-2.0
// Name and plural of a category as users of a framework know them: a parameter is a "variable" to
// TensorFlow's.
#pragma once

#include "profiler/classify/category.h"
#include "profiler/model/framework.h"

namespace vramscope::classify {

[[nodiscard]] model::Framework::Words WordsOf(Category category, const model::Framework& framework);

}  // namespace vramscope::classify
