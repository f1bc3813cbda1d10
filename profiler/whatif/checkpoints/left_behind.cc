// SPDX-License-Identifier: Apache-2.0
#include "profiler/whatif/checkpoints/left_behind.h"

#include <algorithm>

namespace vramscope::whatif {

std::string WhyFindsWhatItLeft(const Step& step, const std::vector<uint32_t>& calls) {
  for (const Held& held : step.held) {
    if (!held.in_given) continue;
    // The function whose argument it is: that of the module around the one that is called.
    const uint32_t around = step.modules[held.call].parent;
    if (around == model::kNone || std::ranges::find(calls, around) == calls.end()) continue;
    const ModuleCall& call = step.modules[around];
    const Position made = step.blocks[held.block].begin;
    if (made < call.begin || made > call.end) continue;
    return std::string(step.Text(call.name)) + " writes into " + std::string(step.Text(held.name)) +
           ", which it is given: computed again it finds there what it left, so what it takes then is not "
           "known, and it may compute something else. Let it return that instead.";
  }
  return "";
}

}  // namespace vramscope::whatif
