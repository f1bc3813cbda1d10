// SPDX-License-Identifier: Apache-2.0
#include "profiler/classify/category_words.h"

namespace vramscope::classify {

model::Framework::Words WordsOf(Category category, const model::Framework& framework) {
  if (category == Category::kParameter) return framework.parameters;
  if (category == Category::kOptimizerState) return framework.optimizer_state;
  return {Info(category).name, Info(category).plural};
}

}  // namespace vramscope::classify
