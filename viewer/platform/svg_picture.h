// SPDX-License-Identifier: Apache-2.0
// A frame as SVG: rectangles and triangles as paths, and text that can be searched and edited.
#pragma once

#include <imgui.h>

#include <string>

namespace vramscope::viewer {

// The part of the frame from `min` to `max`. Draw the frame without soft edges: they would be lines of
// half-transparent triangles.
[[nodiscard]] std::string DrawSvg(const ImDrawData& frame, ImVec2 min, ImVec2 max);

}  // namespace vramscope::viewer
