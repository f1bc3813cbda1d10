// SPDX-License-Identifier: Apache-2.0
// Finds the viewer's fonts: those that a package of vramscope brings along, else those of the machine.
//
//   PREFIX/bin/vramscope-viewer     PREFIX/share/vramscope/fonts/Inter-Regular.otf, ...
//
// A page in a browser has its fonts inside: viewer/platform/web has another file.
#include <imgui_freetype.h>

#include <filesystem>
#include <system_error>

#include "viewer/platform/keyboard_and_fonts.h"

namespace vramscope::viewer {
namespace {

ImFont* AddFont(const std::vector<std::string>& files, float size, const ImWchar* ranges,
                std::string& names) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  ImFontConfig config;
  config.OversampleH = 1;
  config.PixelSnapH = true;
  for (const std::string& file : files) {
    std::error_code ignored;
    if (file.empty() || !std::filesystem::is_regular_file(file, ignored)) continue;
    ImFont* font = atlas->AddFontFromFileTTF(file.c_str(), size, &config, ranges);
    if (font == nullptr) continue;
    const std::string name = file.substr(file.find_last_of('/') + 1);
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
    return font;
  }
  ImFontConfig built_in;
  built_in.SizePixels = size;
  return atlas->AddFontDefault(&built_in);
}

// Ends in '/'. Empty if the program's own path is unknown, as without /proc.
std::string OwnFonts() {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return "";
  return (program.parent_path().parent_path() / "share/vramscope/fonts/").string();
}

}  // namespace

Fonts LoadFonts(float scale, const std::string& preferred) {
  // Latin with its extension, punctuation, arrows, shapes: what paths, units and our own texts use.
  static constexpr ImWchar kRanges[] = {0x0020, 0x017F, 0x2010, 0x205E, 0x2190, 0x21FF, 0x2212,
                                        0x2212, 0x2248, 0x2265, 0x2500, 0x25FF, 0};
  const std::string fonts = "/usr/share/fonts/";
  const std::string own = OwnFonts();
  const std::vector<std::string> text = {preferred,
                                         own + "Inter-Regular.otf",
                                         fonts + "opentype/inter/Inter-Regular.otf",
                                         fonts + "truetype/inter/Inter-Regular.ttf",
                                         fonts + "truetype/roboto/unhinted/RobotoTTF/Roboto-Regular.ttf",
                                         fonts + "truetype/noto/NotoSans-Regular.ttf",
                                         fonts + "truetype/dejavu/DejaVuSans.ttf"};
  const std::vector<std::string> strong = {preferred,
                                           own + "Inter-SemiBold.otf",
                                           fonts + "opentype/inter/Inter-SemiBold.otf",
                                           fonts + "truetype/inter/Inter-SemiBold.ttf",
                                           fonts + "truetype/roboto/unhinted/RobotoTTF/Roboto-Medium.ttf",
                                           fonts + "truetype/noto/NotoSans-Bold.ttf",
                                           fonts + "truetype/dejavu/DejaVuSans-Bold.ttf"};
  const std::vector<std::string> mono = {
      own + "JetBrainsMono-Regular.ttf", fonts + "truetype/jetbrains-mono/JetBrainsMono-Regular.ttf",
      fonts + "truetype/firacode/FiraCode-Regular.ttf", fonts + "truetype/noto/NotoSansMono-Regular.ttf",
      fonts + "truetype/dejavu/DejaVuSansMono.ttf"};
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
#if IMGUI_VERSION_NUM < 19200
  atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
  atlas->FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
  Fonts loaded;
  loaded.text = AddFont(text, 15 * scale, kRanges, loaded.names);
  loaded.strong = AddFont(strong, 15 * scale, kRanges, loaded.names);
  loaded.mono = AddFont(mono, 13.5f * scale, kRanges, loaded.names);
  loaded.small = AddFont(text, 13 * scale, kRanges, loaded.names);
#if IMGUI_VERSION_NUM < 19200
  // The file exists but is not a font: try without it.
  if (!atlas->Build() && !preferred.empty()) return LoadFonts(scale, "");
#endif
  ImGui::GetIO().FontDefault = loaded.text;
  return loaded;
}

}  // namespace vramscope::viewer
