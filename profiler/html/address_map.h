// SPDX-License-Identifier: Apache-2.0
// Where every byte of the caching allocator is at a moment, for the page's map.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiler/classify/analysis.h"
#include "profiler/classify/origin.h"
#include "profiler/fragmentation/layout.h"
#include "profiler/fragmentation/subject.h"

namespace vramscope::html {

// What a block of the map is, where it is not a number of a category.
enum MapKind : int { kMapFree = -1, kMapPending = -2, kMapSeveral = -3 };

// {"names": [text], "segments": [{address, bytes, free_bytes, large, expandable, stream, blocks}],
// "left_out"}: in order of addresses; blocks fill their segment and are [bytes, kind, index of the name, 0 =
// none]. Where there are more blocks than a page can show, small neighbours are one of kind kMapSeveral with
// their count in place of a name; of more segments than that, the largest stay and left_out counts the
// others. `event` is the moment in the run. Its blocks are looked up there, for their category then.
[[nodiscard]] nlohmann::ordered_json AddressMap(const classify::Analysis& analysis,
                                                classify::Origins& origins,
                                                const fragmentation::Subject& subject,
                                                const fragmentation::Layout& layout,
                                                fragmentation::Moment moment, model::EventIndex event);

}  // namespace vramscope::html
