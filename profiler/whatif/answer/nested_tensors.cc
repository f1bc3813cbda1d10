// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/answer/nested_tensors.h"

#include <algorithm>

#include "profiler/whatif/scene/lever.h"

namespace vramscope::whatif {

bool HasNestedTensors(const Step& step) {
  return std::ranges::any_of(step.ops,
                             [&](const Op& op) { return step.NameOf(op).starts_with("aten::_nested_"); });
}

std::string WhyNotOfNested(std::string_view lever, std::string_view value) {
  const Lever* const kNoneOfTheirs[] = {&OptimizerLever(), &ZeroGradLever(), &ShardLever(),
                                        &AllocatorSettingsLever(), &EmptyCacheLever()};
  const bool predicted =
      std::ranges::any_of(kNoneOfTheirs, [&](const Lever* one) { return lever == one->info().name; }) ||
      (lever == OffloadLever().info().name && value.starts_with("optimizer") &&
       value.find("activations") == std::string_view::npos);
  return predicted ? ""
                   : "the program uses nested tensors. The trace does not record which of their values are "
                     "kept or where their samples are.";
}

}  // namespace vramscope::whatif
