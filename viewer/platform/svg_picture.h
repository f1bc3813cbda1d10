// SPDX-License-Identifier: Apache-2.0
// Converts a frame of the viewer to SVG: rectangles and triangles as paths, and texts that can be searched
// and edited.
#pragma once

#include <imgui.h>

#include <string>

namespace vramscope::viewer {

// Returns the part of the frame from `min` to `max`. Draw the frame without anti-aliasing, because
// anti-aliased edges would become lines of half-transparent triangles.
[[nodiscard]] std::string DrawSvg(const ImDrawData& frame, ImVec2 min, ImVec2 max);

}  // namespace vramscope::viewer
