// SPDX-License-Identifier: Apache-2.0
// Notes about communication memory: which setting of the training framework determines its size.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"

namespace vramscope::report {

// One sentence for each kind of communication memory among `live`, the blocks alive at `at`: buckets,
// gathered parameters, buffers of collectives. Largest first.
[[nodiscard]] std::vector<std::string> CommunicationNotes(const classify::Analysis& analysis,
                                                          std::span<const model::BlockId> live,
                                                          model::EventIndex at);

}  // namespace vramscope::report
