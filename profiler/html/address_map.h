// SPDX-License-Identifier: Apache-2.0
// The JSON for the page's address map: the blocks and free memory in the caching allocator's segments at one
// moment.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout.h"
#include "profiler/fragmentation/subject.h"

namespace vramscope::html {

// The kind of a block on the map, if it is not the number of a category.
enum MapKind : int { kMapFree = -1, kMapPending = -2, kMapSeveral = -3 };

// {"names": [text], "segments": [{address, bytes, free_bytes, large, expandable, stream, private_pool,
// blocks}], "left_out"}: segments in order of addresses. The blocks fill their segment. Each is [bytes, kind,
// index of its name, 0 = none]. If there are too many blocks for a page, small neighbors are merged into one
// of kind kMapSeveral, with their count instead of a name. If there are too many segments, the largest stay
// and left_out counts the others. `event` is the moment in the run at which the blocks' categories are looked
// up.
[[nodiscard]] nlohmann::ordered_json AddressMap(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                const fragmentation::Subject& subject,
                                                const fragmentation::Layout& layout,
                                                fragmentation::Moment moment, model::EventIndex event);

}  // namespace vramscope::html
