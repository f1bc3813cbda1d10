// SPDX-License-Identifier: Apache-2.0
// Passes ImGui's draw lists to the page, which draws them with WebGL2.
#pragma once

#include <imgui.h>

namespace vramscope::web {

// Call before the first frame.
void UseWebRenderer();
void DrawOnPage(const ImDrawData& frame);

}  // namespace vramscope::web
