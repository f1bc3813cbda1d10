// SPDX-License-Identifier: Apache-2.0
// Creates the JSON for the address map of the HTML page: the segments at one moment, with their blocks and
// free memory.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout.h"
#include "profiler/fragmentation/subject.h"

namespace vramscope::html {

// The kinds of blocks in the JSON that are not categories: free memory, freed memory that another stream may
// still use, and several merged blocks.
enum MapKind : int { kMapFree = -1, kMapPending = -2, kMapSeveral = -3 };

// Returns {"names": [text], "segments": [{address, bytes, free_bytes, large, expandable, stream,
// private_pool, blocks}], "left_out"}. Segments are in order of addresses. Each block is [bytes, kind, index
// of its name (0 = no name)]. Small neighbors are merged into one block of kind kMapSeveral; its third
// element is the number of merged blocks. left_out is the number of segments that are left out. `moment` and
// `event` are the same moment: `moment` in the history of `subject`, `event` in the events of the run. The
// categories of the blocks are those after this event.
[[nodiscard]] nlohmann::ordered_json AddressMap(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                const fragmentation::Subject& subject,
                                                const fragmentation::Layout& layout,
                                                fragmentation::Moment moment, model::EventIndex event);

}  // namespace vramscope::html
