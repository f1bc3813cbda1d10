// SPDX-License-Identifier: Apache-2.0
// Notes for a report about communication memory. Each note names the setting of the training framework that
// determines the size of the memory.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "profiler/classify/analysis.h"

namespace vramscope::report {

// Returns one sentence for each kind of communication memory: buckets, gathered parameters, buffers of
// collectives. The largest kind is first. `live` are the blocks that are alive at event `at`.
[[nodiscard]] std::vector<std::string> CommunicationNotes(const classify::Analysis& analysis,
                                                          std::span<const model::BlockId> live,
                                                          model::EventIndex at);

}  // namespace vramscope::report
