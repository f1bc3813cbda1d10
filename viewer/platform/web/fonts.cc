// SPDX-License-Identifier: Apache-2.0
// The fonts that the page brings along, under /fonts. Without FreeType: ImGui's own rasterizer.
#include <imgui.h>
#include <unistd.h>

#include "viewer/platform/keyboard_and_fonts.h"

namespace vramscope::viewer {
namespace {

ImFont* AddFont(const char* file, float size, const ImWchar* ranges) {
  ImFontConfig config;
  config.OversampleH = 2;
  config.PixelSnapH = true;
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFont* font = access(file, R_OK) == 0 ? atlas->AddFontFromFileTTF(file, size, &config, ranges) : nullptr;
  if (font != nullptr) return font;
  ImFontConfig built_in;
  built_in.SizePixels = size;
  return atlas->AddFontDefault(&built_in);
}

}  // namespace

Fonts LoadFonts(float scale, const std::string&) {
  static constexpr ImWchar kRanges[] = {0x0020, 0x017F, 0x2010, 0x205E, 0x2190, 0x21FF, 0x2212,
                                        0x2212, 0x2248, 0x2265, 0x2500, 0x25FF, 0};
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
  Fonts loaded;
  loaded.text = AddFont("/fonts/text", 15 * scale, kRanges);
  loaded.strong = AddFont("/fonts/strong", 15 * scale, kRanges);
  loaded.mono = AddFont("/fonts/mono", 13.5f * scale, kRanges);
  loaded.small = AddFont("/fonts/text", 13 * scale, kRanges);
  loaded.names = "Inter, JetBrains Mono";
  atlas->Build();
  ImGui::GetIO().FontDefault = loaded.text;
  return loaded;
}

}  // namespace vramscope::viewer
