// SPDX-License-Identifier: Apache-2.0
// The state of every byte in the caching allocator's segments at a moment, for the page's map.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout.h"
#include "profiler/fragmentation/subject.h"

namespace vramscope::html {

// The kind of a block on the map, if it is not the number of a category.
enum MapKind : int { kMapFree = -1, kMapPending = -2, kMapSeveral = -3 };

// {"names": [text], "segments": [{address, bytes, free_bytes, large, expandable, stream, blocks}],
// "left_out"}: in order of addresses. Blocks fill their segment and are [bytes, kind, index of the name, 0 =
// none]. If there are more blocks than a page can show, small neighbors are merged into one of kind
// kMapSeveral, with their count instead of a name. If there are more segments than that, the largest stay and
// left_out counts the others. `event` is the moment in the run; the blocks' categories are looked up there.
[[nodiscard]] nlohmann::ordered_json AddressMap(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                const fragmentation::Subject& subject,
                                                const fragmentation::Layout& layout,
                                                fragmentation::Moment moment, model::EventIndex event);

}  // namespace vramscope::html
