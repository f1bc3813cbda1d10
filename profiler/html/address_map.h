// SPDX-License-Identifier: Apache-2.0
// The JSON for the page's address map: blocks and free memory in the allocator's segments at one moment.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout.h"
#include "profiler/fragmentation/subject.h"

namespace vramscope::html {

// Kinds of blocks that are not categories.
enum MapKind : int { kMapFree = -1, kMapPending = -2, kMapSeveral = -3 };

// {"names": [text], "segments": [{address, bytes, free_bytes, large, expandable, stream, private_pool,
// blocks}], "left_out"}: segments in order of addresses. Each block is [bytes, kind, index of its name (0 =
// none)]. Small neighbors are merged into one block of kind kMapSeveral, with their count instead of a name.
// left_out counts segments that are left out. `event`: the same moment in the run, which gives the blocks'
// categories.
[[nodiscard]] nlohmann::ordered_json AddressMap(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                const fragmentation::Subject& subject,
                                                const fragmentation::Layout& layout,
                                                fragmentation::Moment moment, model::EventIndex event);

}  // namespace vramscope::html
