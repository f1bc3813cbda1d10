// SPDX-License-Identifier: Apache-2.0
// Draws charts of a fragmentation answer as SVG (`vramscope frag`).
//
//   causes   reserved memory over the events: requested memory, with each kind of unused memory stacked on it
//   shares   the metrics between 0 and 1 over the events
//   map      the segments at the chosen moment, one row each
//   sizes    the free blocks at the chosen moment, by size
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "profiler/fragmentation/answer.h"

namespace vramscope::fragmentation {

enum class Picture : uint8_t { kCauses, kShares, kMap, kSizes };
[[nodiscard]] std::optional<Picture> PictureFromName(std::string_view name);

// Returns a complete SVG document. `layout` must be the layout at the answer's chosen moment.
[[nodiscard]] std::string DrawSvg(const Subject& subject, const Answer& answer, const Layout& layout,
                                  Picture picture);

}  // namespace vramscope::fragmentation
