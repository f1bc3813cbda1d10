// SPDX-License-Identifier: Apache-2.0
// ImGui's draw lists to the page, which draws them by WebGL2.
#pragma once

#include <imgui.h>

namespace vramscope::web {

// After the fonts were loaded.
void UploadFonts();
void DrawOnPage(const ImDrawData& frame);

}  // namespace vramscope::web
