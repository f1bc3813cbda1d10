// SPDX-License-Identifier: Apache-2.0
// The page's own fonts, under /fonts. ImGui's own rasterizer draws them, because there is no FreeType.
#include <imgui.h>
#include <unistd.h>

#include "viewer/platform/keyboard_and_fonts.h"

namespace vramscope::viewer {
namespace {

Font AddFont(const char* file) {
  ImFontConfig config;
  config.PixelSnapH = true;
  config.OversampleH = 2;
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFont* face = access(file, R_OK) == 0 ? atlas->AddFontFromFileTTF(file, 0, &config) : nullptr;
  return {face != nullptr ? face : atlas->AddFontDefaultVector()};
}

}  // namespace

Fonts LoadFonts(const std::string&) {
  Fonts loaded;
  loaded.text = loaded.small = AddFont("/fonts/text");
  loaded.strong = AddFont("/fonts/strong");
  loaded.mono = AddFont("/fonts/mono");
  loaded.names = "Inter, JetBrains Mono";
  ImGui::GetIO().FontDefault = loaded.text.face;
  return loaded;
}

}  // namespace vramscope::viewer
