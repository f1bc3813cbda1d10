// SPDX-License-Identifier: Apache-2.0
// Determines the category of one block with the rules of categories.h.
#pragma once

#include "profiler/classify/births.h"
#include "profiler/classify/categories.h"
#include "profiler/classify/leaves.h"

namespace vramscope::classify {

[[nodiscard]] Life Classify(const model::Run& run, const model::Block& block, const Birth& birth,
                            const Leaves& leaves);

}  // namespace vramscope::classify
